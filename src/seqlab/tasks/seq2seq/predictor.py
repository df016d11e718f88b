"""Generate and score target sequences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.core.errors import UsageError
from seqlab.decoding.batched_decoding import decode_batched
from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.forced_scoring import score_targets
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.prepared_decoder import prepare_decoder
from seqlab.decoding.settings import DecodingSettings
from seqlab.metrics.text_likelihood import Surprisal, TextScore
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.setting_names import naming_settings
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.excerpt import excerpt
from seqlab.tasks.inputs.tokens import pieces_of
from seqlab.tasks.predictor import Predictor
from seqlab.tasks.seq2seq.codec import Seq2SeqCodec, SourceSteps
from seqlab.tasks.seq2seq.generated_sequence import GeneratedSequence, TextHypothesis
from seqlab.tasks.seq2seq.target_search import TargetSearch

MAX_MAPS, MAX_MAP_TOKENS = 4, 40
"""Number of attention maps in a report, and the maximum number of tokens along a side."""
AnyCodec = TypeVar("AnyCodec", bound=Seq2SeqCodec)


@torch.inference_mode()
def cross_attention(
    model: EncoderDecoder | Ensemble, source: SourceSteps, decoder_inputs: Sequence[int]
) -> Float[Tensor, "target positions"] | None:
    """Return the attention over the encoded source after each decoder input; None if the decoder has no
    attention. Positions are the tokens of a text, or the regions of an image.

    decoder_inputs: the start token and the tokens of the target; including its last token also returns the
    attention for the end token.
    """
    steps = source.unsqueeze(0).to(next(model.parameters()).device)
    inputs = torch.tensor([list(decoder_inputs)], device=steps.device)
    decoder_state = model.encode(steps, torch.ones(steps.shape[:2], dtype=torch.bool, device=steps.device))
    _, _, alignment = model.decode_with_alignment(
        inputs, torch.ones_like(inputs, dtype=torch.bool), decoder_state
    )
    return None if alignment is None else alignment[0]


class Seq2SeqPredictor(Predictor[AnyCodec, Calibration]):
    """An encoder reads a source; a search over the decoder generates its target."""

    def __init__(self, codec: AnyCodec, model: nn.Module, calibration: Calibration) -> None:
        super().__init__(codec, model, calibration)
        assert isinstance(model, EncoderDecoder | Ensemble)
        self.network = model
        self.decoder = prepare_decoder(model)
        """The network with its weights prepared for decoding one token at a time."""
        self.target_search = self.build_search(self.recipe.decoding)

    def with_recipe(self, recipe: Recipe) -> Self:
        predictor = super().with_recipe(recipe)
        predictor.target_search = predictor.build_search(recipe.decoding)
        return predictor

    def build_search(self, settings: DecodingSettings) -> TargetSearch:
        """Build the search that the settings describe; a task rejects what it does not support."""
        return TargetSearch.build(settings, self.codec)

    @torch.inference_mode()
    def generate(self, sources: Iterable[SourceSteps], *, top: int = 1) -> list[list[Hypothesis]]:
        """Generate the `top` hypotheses of each source, best first, or as many as the search can find."""
        target_search = self.target_search.with_top(top)
        with naming_settings(self.recipe, "decoding"):
            return [
                target_search.select(hypotheses)
                for hypotheses in decode_batched(
                    self.decoder,
                    sources,
                    target_search.search,
                    batch_size=target_search.settings.batch_size,
                    get_source_id=content_id,
                )
            ]

    def to_text(self, hypothesis: Hypothesis, text: str) -> TextHypothesis:
        """Combine a hypothesis with its text. Its log P excludes the tokens that the model forces at the
        start of every target, but includes a prefix of the search.
        """
        num_forced = len(self.codec.tokens.forced_ids)
        return TextHypothesis(text, sum(hypothesis.token_log_probs[num_forced:]), hypothesis)

    def to_prediction(
        self, source: str, hypotheses: Sequence[TextHypothesis], *, top: int
    ) -> GeneratedSequence:
        """Build a prediction from the distinct texts among the hypotheses of a source.

        source: its name or text, as shown in the prediction.
        """
        return GeneratedSequence.from_hypotheses(
            excerpt(source), hypotheses, top=top, is_ranked_by_score=self.recipe.decoding.beam > 1
        )

    def attention(self, source: SourceSteps, target: Sequence[int]) -> list[list[float]] | None:
        """Return the attention over the source for every token of a target and its end token, one row each;
        None if the decoder has no attention.
        """
        weights = cross_attention(self.network, source, [self.codec.tokens.start_id, *target])
        return None if weights is None else weights.float().cpu().tolist()

    def score(self, inputs: Sequence[Any]) -> list[TextScore]:
        """Return the log-probability of each target token, including the end token, for (source, target)
        pairs.
        """
        self._require_pairs(inputs)
        tokens, longest = self.codec.tokens, self.codec.max_positions - 1  # the start token is before them
        sources = list(self.codec.encode_inputs([source for source, _ in inputs]))
        targets = [tokens.target_ids(target, where="target") for _, target in inputs]
        for (_, text), ids in zip(inputs, targets, strict=True):
            if len(ids) > longest:
                raise UsageError(
                    f"the target has {len(ids)} tokens, but the model generates at most {longest}.",
                    where=repr(excerpt(text)),
                    cure="Score it sentence by sentence.",
                )
        hypotheses = score_targets(self.decoder, sources, targets, tokens.special_tokens)
        return [
            self._text_score(source, target, hypothesis)
            for (source, target), hypothesis in zip(inputs, hypotheses, strict=True)
        ]

    def _require_pairs(self, inputs: Sequence[Any]) -> None:
        if not all(
            isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[1], str) for pair in inputs
        ):
            raise UsageError(
                f"score takes pairs of a source and a target for a {self.recipe.task} run.",
                cure='For example: run.score([("the source", "the target")])',
            )

    def _text_score(self, source: Any, target: str, hypothesis: Hypothesis) -> TextScore:
        tokens = self.codec.tokens
        vocabulary, num_forced = tokens.target.vocabulary, len(tokens.forced_ids)
        pieces = pieces_of(tokens.target, np.array([*hypothesis.tokens, tokens.end_id]))
        surprisals = [
            Surprisal(piece, log_prob)
            for piece, log_prob in zip(pieces, hypothesis.token_log_probs, strict=True)
        ]
        return TextScore(
            target,
            surprisals[num_forced:],
            num_characters=len(target) + 1,
            num_unknown=hypothesis.tokens.count(vocabulary.unk_id) if vocabulary.has_unknown else 0,
            source=str(source) if isinstance(source, str | Path) else "",  # pixels have no name
        )


def content_id(source: SourceSteps) -> int:
    """Return an id that depends on the source alone, so that its samples are the same in a stream, in a
    batch and alone.
    """
    content = hashlib.blake2b(source.numpy().tobytes(), digest_size=8)
    return int.from_bytes(content.digest(), "big")
