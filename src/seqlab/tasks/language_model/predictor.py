"""Predict the next token, score texts and generate continuations with a language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

from seqlab.decoding.continuation import generate_tokens
from seqlab.decoding.settings import DecodingSettings
from seqlab.metrics.text_likelihood import Surprisal, TextScore
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.excerpt import excerpt
from seqlab.tasks.inputs.text import text_input
from seqlab.tasks.language_model.codec import LanguageModelCodec
from seqlab.tasks.language_model.context_policy import ContextPolicy
from seqlab.tasks.language_model.text_scores import text_log_probs
from seqlab.tasks.prediction import Prediction, TokenPrediction
from seqlab.tasks.predictor import Predictor
from seqlab.tasks.text.detokenize import decode_stream, piece_text
from seqlab.tasks.text.documents import BY_LINE
from seqlab.tokens.vocabulary import UNK


class LanguageModelPredictor(Predictor[LanguageModelCodec, Calibration]):
    """Treats every prompt as the beginning of a line or a document."""

    def __init__(self, codec: LanguageModelCodec, model: nn.Module, calibration: Calibration) -> None:
        super().__init__(codec, model, calibration)
        self.policy = ContextPolicy.from_recipe(self.recipe)
        self._stop_ids = [] if self.recipe.tokens.kind in BY_LINE else [codec.end_id]
        newline: list[int] = codec.tokenizer.encode("\n").tolist()
        is_known = bool(newline) and newline[0] not in codec.suppressed_ids
        self._line_start = newline if is_known else [codec.end_id]
        """What comes before the first token of a line."""

    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """Predict the next token after each prefix: candidates with their probabilities, highest first."""
        return [self._predict(text_input(text, number), top) for number, text in enumerate(inputs, start=1)]

    @torch.inference_mode()
    def _predict(self, text: str, top: int) -> TokenPrediction:
        prompt = self._prompt(text)
        limit = self._max_prompt(self.recipe.decoding)
        tokens = torch.tensor([prompt if limit is None else prompt[-limit:]], device=self._device)
        logits, _ = self.model(tokens, torch.ones_like(tokens, dtype=torch.bool))
        best = logits[0, -1].float().softmax(dim=-1).cpu().topk(min(top, logits.shape[-1]))
        ranking = [
            (piece_text(self.codec.tokenizer, token), share)
            for token, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]
        return TokenPrediction(excerpt(text), *ranking[0], ranking)

    def score(self, inputs: Sequence[Any]) -> list[TextScore]:
        """Return the log-probability of each token of each text, given the tokens before it.

        A text is scored as a line, or as a document including its end token.
        """
        texts = [str(text) for text in inputs]
        end = [self.codec.end_id] if self.policy.has_documents else []
        start = end or self._line_start
        ids = [encoded.tolist() + end for encoded in self.codec.tokenizer.encode_many(texts)]
        log_probs = text_log_probs(
            self.model,
            [start + tokens for tokens in ids],
            window=self.policy.window,
            carries_state=self.policy.carries_state,
            vocabulary_size=self.codec.vocabulary_size,
        )
        unknown = self.codec.tokenizer.vocabulary.ids.get(UNK)
        return [
            TextScore(
                text,
                [
                    Surprisal(piece_text(self.codec.tokenizer, token), log_prob)
                    for token, log_prob in zip(tokens, token_log_probs.tolist(), strict=True)
                ],
                num_characters=len(text) + len(end),
                num_unknown=tokens.count(unknown),
            )
            for text, tokens, token_log_probs in zip(texts, ids, log_probs, strict=True)
        ]

    def stream(self, prompt: str, settings: DecodingSettings) -> Iterator[str]:
        tokens = generate_tokens(
            self.model,
            self._prompt(prompt),
            settings,
            stop_ids=self._stop_ids,
            suppressed_ids=self.codec.suppressed_ids,
            context=self._max_prompt(settings),
            device=self._device,
        )
        return decode_stream(self.codec.tokenizer, tokens, end_id=self.codec.end_id)

    def _max_prompt(self, settings: DecodingSettings) -> int | None:
        """Return the maximum number of last tokens to read; None for all of them."""
        return None if self.policy.carries_state else settings.context or self.policy.window

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def _prompt(self, text: str) -> list[int]:
        """Return the ids of a prompt; for an empty one, the end of a preceding text."""
        ids: list[int] = self.codec.tokenizer.encode(text).tolist()
        if self.policy.resets_at_documents:
            return [self.codec.end_id, *ids]
        return ids or self._line_start
