"""Targets that are written token by token, whatever is read before: what translation and captioning share."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Shaped
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader, one_pass
from seqlab.batches.samplers import BucketSampler, Indices, LengthOrderSampler, Sampler, TokenBucketSampler
from seqlab.core.errors import RecipeError, UsageError
from seqlab.decoding.batched import decode_batched
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.build_search import build_search, select_n_best
from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.forced_scoring import score_targets
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.recording import record_search
from seqlab.decoding.search import Search
from seqlab.decoding.search_tree import SearchTree
from seqlab.decoding.settings import DecodingSettings
from seqlab.losses.full_softmax import target_log_probs_and_hits
from seqlab.losses.token_loss import TokenLoss
from seqlab.metrics.text_likelihood import Surprisal, TextScore
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.sources.base import Source
from seqlab.tasks.base import Task, shown
from seqlab.tasks.inputs import pieces_of
from seqlab.tasks.seq2seq.generated import Answer
from seqlab.tasks.seq2seq.scheduled_sampling import draw_predicted
from seqlab.tasks.seq2seq.target_tokens import TargetTokens
from seqlab.training.base import BatchLoss, Carry, Validation
from seqlab.training.teacher_forcing import truth_share

EVALUATION_BATCH, EVALUATION_STEPS = 256, 32_768
"""At most so many pairs, and padded steps, are looked at together."""
MOST_LOOKS, LONGEST_LOOKS = 4, 40
"""Pairs of a report that show where was looked, and the tokens that can still be read there."""
NO_LIMIT = 1 << 30

Steps = Shaped[Tensor, "source *features"]
"""One source, as the encoder reads it."""


class PairTask(Task):
    """An encoder reads a source, a decoder writes the target.

    While it learns, the decoder is told the true tokens so far (teacher forcing) or, with
    scheduled_sampling.schedule, more and more of its own.
    """

    tokens: TargetTokens
    sources: dict[str, Source]

    @abstractmethod
    def collate(self, split: str, rows: Indices) -> Batch: ...

    @abstractmethod
    def sides(self, split: str) -> NDArray[np.int64]:
        """How long both sides of every pair are, (pairs, 2): what a batch costs."""

    @property
    def longest_known(self) -> int:
        """Tokens of a side that the network's positions know."""
        return NO_LIMIT

    def loader(self, cursor: Cursor) -> Loader:
        sides, training = self.sides("train"), self.recipe.training
        sampler: Sampler
        if training.batch_tokens:
            sampler = TokenBucketSampler(sides, batch_tokens=training.batch_tokens, seed=training.seed)
        else:
            sampler = BucketSampler(
                sides.sum(axis=1), batch_size=min(training.batch_size, len(sides)), seed=training.seed
            )
        return Loader(sampler, lambda rows, _: self.collate("train", rows), cursor=cursor)

    def all_batches(self, split: str) -> Iterable[Batch]:
        # Each side is padded to its own longest: twice the longer side bounds what every later pair of a
        # batch can make of both.
        sampler = LengthOrderSampler(
            2 * self.sides(split).max(axis=1), batch_size=EVALUATION_BATCH, most_steps=EVALUATION_STEPS
        )
        return one_pass(sampler, lambda rows, _: self.collate(split, rows))

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        given, wanted, is_target = self._shifted(batch)
        loss = TokenLoss(wanted, is_target, label_smoothing=self.recipe.training.label_smoothing)
        value = model(
            batch.inputs,
            batch.is_token,
            given,
            is_target,
            is_predicted=self._draw_predicted(given, step),
            loss=loss,
        )
        return BatchLoss(value.total, int(is_target.sum()), int(value.correct))

    def _draw_predicted(self, given: Tensor, step: int) -> Tensor | None:
        """Which inputs the decoder predicts itself in an update; None where all are given."""
        settings = self.recipe.scheduled_sampling
        if settings.schedule == "none":
            return None
        ratio = truth_share(
            step,
            decay=settings.schedule,
            half=settings.half_life,
            least=settings.min_teacher_forcing_ratio,
        )
        return draw_predicted(given, ratio, per=settings.per)

    def _shifted(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """What the decoder reads, what it is to write after it, and where it is to write anything."""
        given, wanted = batch["target"][:, :-1], batch["target"][:, 1:]
        lengths = torch.from_numpy(self._target_lengths(batch)).to(given.device)
        return given, wanted, torch.arange(given.shape[1], device=given.device) < lengths[:, None] - 1

    def _target_lengths(self, batch: Batch) -> NDArray[np.int64]:
        pad_id = self.tokens.target.vocabulary.pad_id
        targets = batch["target"].cpu().numpy()
        is_real = targets != pad_id
        is_real[:, 0] = True  # some published models start with the padding token
        found: NDArray[np.int64] = is_real.shape[1] - is_real[:, ::-1].argmax(axis=1)
        return found

    def validate(self, model: nn.Module) -> Validation:
        log_probs, correct = [], 0
        for batch in self.all_batches("valid"):
            found, right = self._told(model, batch)
            log_probs.append(found)
            correct += right
        together = torch.cat(log_probs)
        loss = -float(together.double().mean())
        return Validation(
            loss,
            higher_is_better=False,
            facts={"valid_loss": loss, "valid_accuracy": correct / len(together)},
        )

    def _told(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """log P of every true token after the true ones before it, and how many are the likeliest."""
        assert isinstance(model, EncoderDecoder)
        batch = batch.to(next(model.parameters()).device)
        given, wanted, is_target = self._shifted(batch)
        features = model.features(batch.inputs, batch.is_token, given, is_target)[is_target]
        return target_log_probs_and_hits(features, model.output_weight, model.bias, wanted[is_target])

    def describe_rows(self, batch: Batch) -> str:
        lines = sorted(self.stores["train"]["line"][batch.rows.cpu().numpy()].tolist())
        return (
            f"batch of {len(lines)} pairs, lines"
            f" {', '.join(map(str, lines[:5]))}{' …' if len(lines) > 5 else ''} of"
            f" {self.sources['train'].name}"
        )

    @torch.inference_mode()
    def write(
        self, model: nn.Module, sources: Iterable[Steps], *, num_answers: int = 1
    ) -> list[list[Hypothesis]]:
        """For each source its targets, the best first: as many as are wanted, where the search finds so
        many.
        """
        assert isinstance(model, EncoderDecoder | Ensemble)
        device, search = next(model.parameters()).device, self._searched(num_answers)
        found = decode_batched(
            model,
            sources,
            self.build_search(search),
            batch_size=search.batch_size,
            get_source_id=number_of,
            device=device,
        )
        return [select_n_best(search, hypotheses) for hypotheses in found]

    @torch.inference_mode()
    def search_tree(
        self, model: nn.Module, source: Steps, *, num_answers: int = 1
    ) -> tuple[list[Hypothesis], SearchTree]:
        """The targets of one source, as `write` gives them, and all that the beam looked at on the way."""
        assert isinstance(model, EncoderDecoder | Ensemble)
        settings = self._searched(num_answers)
        search = self.build_search(settings)
        if not isinstance(search, BeamSearch):
            raise UsageError(
                "only a beam of at least 2 has a search tree.",
                where="decoding.beam",
                cure="For example --beam 3, or decoding.beam=3.",
            )
        found, tree = record_search(model, source, search, device=next(model.parameters()).device)
        return select_n_best(settings, found), tree

    def answer(self, found: Hypothesis, text: str) -> Answer:
        """A hypothesis in words, with log P of all but what the model forces every target to begin with; a
        prefix of the search counts.
        """
        return Answer(text, sum(found.token_log_probs[len(self.tokens.forced) :]), found)

    @abstractmethod
    def read_inputs(self, inputs: Sequence[Any]) -> Iterable[Steps]:
        """Questions, as the encoder reads them."""

    def score(self, model: nn.Module, pairs: Sequence[tuple[Any, str]]) -> list[TextScore]:
        """How probable each token of a given target is after its source and the tokens before, the end
        included: (source, target) pairs.
        """
        assert isinstance(model, EncoderDecoder | Ensemble)
        sources = list(self.read_inputs([source for source, _ in pairs]))
        targets = [self.tokens.cut(target, where="target") for _, target in pairs]
        for (_, text), tokens in zip(pairs, targets, strict=True):
            if len(tokens) >= self.longest_known:  # the start stands before them
                what = f"a target of {len(tokens)} tokens, but the model writes {self.longest_known - 1}."
                raise UsageError(what, where=repr(shown(text)), cure="Give it sentence by sentence.")
        found = score_targets(
            model, sources, targets, self.tokens.special_tokens, device=next(model.parameters()).device
        )
        return [self._scored(source, target, one) for (source, target), one in zip(pairs, found, strict=True)]

    def _scored(self, source: Any, target: str, found: Hypothesis) -> TextScore:
        num_forced, vocabulary = len(self.tokens.forced), self.tokens.target.vocabulary
        pieces = pieces_of(self.tokens.target, np.array([*found.tokens, self.tokens.end_id]))
        tokens = [
            Surprisal(piece, log_prob) for piece, log_prob in zip(pieces, found.token_log_probs, strict=True)
        ]
        num_unknown = found.tokens.count(vocabulary.unk_id) if vocabulary.has_unknown else 0
        name = str(source) if isinstance(source, str | Path) else ""  # pixels have none
        return TextScore(
            target, tokens[num_forced:], num_characters=len(target) + 1, num_unknown=num_unknown, source=name
        )

    def _searched(self, num_answers: int) -> DecodingSettings:
        """The settings of the search, with as many answers as are wanted and can come; of draws all, since
        many may be the same.
        """
        search = self.recipe.decoding
        most = search.samples if search.temperature and num_answers > 1 else min(num_answers, search.beam)
        return search.model_copy(update={"n_best": max(search.n_best, most)})

    def build_search(self, settings: DecodingSettings) -> Search:
        """The search that settings describe, over the tokens of the target side."""
        special_tokens = self.tokens.special_tokens
        if settings.unknown == "copy":
            special_tokens = special_tokens.without_suppressing(self._unknown_id())
        prefix = (
            self.tokens.cut_known(settings.prefix, where="decoding.prefix")
            if settings.prefix
            else self.tokens.forced
        )
        size, longest = len(self.tokens.target.vocabulary), self.longest_known - 2
        return build_search(
            settings, special_tokens, vocabulary_size=size, prefix=prefix, max_target_tokens=longest
        )

    def _unknown_id(self) -> int:
        vocabulary = self.tokens.target.vocabulary
        if not vocabulary.has_unknown:
            raise RecipeError(
                "the model has no token for unknown words, so none can be copied.",
                where="decoding.unknown",
                cure="Leave it out.",
            )
        return vocabulary.unk_id

    @torch.inference_mode()
    def alignment(self, model: nn.Module, source: Steps, target: Sequence[int]) -> list[list[float]] | None:
        """Where was looked for every token of a target and for its end, one row each; None where the decoder
        has no attention.
        """
        assert isinstance(model, EncoderDecoder | Ensemble)
        read = source.unsqueeze(0).to(next(model.parameters()).device)
        given = torch.tensor([[self.tokens.start_id, *target]], device=read.device)
        decoder_state = model.encode(read, torch.ones(read.shape[:2], dtype=torch.bool, device=read.device))
        _, _, found = model.decode_with_alignment(
            given, torch.ones_like(given, dtype=torch.bool), decoder_state
        )
        return None if found is None else found[0].float().cpu().tolist()


def number_of(source: Steps) -> int:
    """A number that a source has wherever it stands, so that its draws are the same in a stream, in a batch
    and alone.
    """
    content = hashlib.blake2b(source.numpy().tobytes(), digest_size=8)
    return int.from_bytes(content.digest(), "big")
