"""Predict the tags of new sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.sources.base import Row
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.labeled.split import prediction_batches
from seqlab.tasks.prediction import Prediction
from seqlab.tasks.predictor import Predictor
from seqlab.tasks.tagging.codec import TaggingCodec
from seqlab.tasks.tagging.tag_decoding import DecodedTags, decode_tags
from seqlab.tasks.tagging.tagged_sentence import TaggedSentence, mark_spans


class TaggingPredictor(Predictor[TaggingCodec, Calibration]):
    """Predicts a tag for every word with its probability."""

    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        column = self.codec.inputs.column
        batches = prediction_batches(self.codec.input_rows(inputs), column)
        return [sentence for rows in batches for sentence in self._tag_rows(rows, column, top)]

    def _tag_rows(self, rows: list[Row], column: str, top: int) -> Iterator[TaggedSentence]:
        """Tag rows; a row without words gives a sentence without tags."""
        with_words = [row for row in rows if row.values[column]]
        decisions = iter(self._run(with_words) if with_words else ())
        for row in rows:
            yield self._decode(row, next(decisions), top) if row.values[column] else self._empty()

    @torch.inference_mode()
    def _run(self, rows: list[Row]) -> list[DecodedTags]:
        encoded = list(self.codec.inputs.encode_tagged(rows))
        inputs, is_token = self.codec.inputs.padded(
            [steps for _, steps, _ in encoded], to_length=self.recipe.training.pad_to
        )
        is_word = torch.zeros_like(is_token)
        for sentence, (_, _, places) in zip(is_word, encoded, strict=True):
            sentence[torch.from_numpy(places)] = True
        device = next(self.model.parameters()).device
        logits: Tensor = self.model(inputs.to(device), is_token.to(device))  # (batch, time, tags)
        return decode_tags(self.model, logits, is_word.to(device))

    def _decode(self, row: Row, decision: DecodedTags, top: int) -> TaggedSentence:
        words = self.codec.inputs.names_of(row)
        probabilities = np.exp(decision.log_probs[np.arange(len(words)), decision.tags]).tolist()
        tags = [self.codec.labels.decode(int(tag)) for tag in decision.tags]
        pairs = [f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)]
        return TaggedSentence(
            input=" ".join(words),
            answer=" ".join(pairs),
            probability=float(np.prod(probabilities)),
            ranking=list(zip(pairs, probabilities, strict=True)),
            words=tuple(words),
            tags=tuple(tags),
            spans=None if self.codec.scheme is None else mark_spans(words, tags),
            candidates=tuple(self._candidates(log_probs, top) for log_probs in decision.log_probs),
        )

    def _candidates(self, log_probs: Float[np.ndarray, " tags"], top: int) -> tuple[tuple[str, float], ...]:
        best = np.argsort(-log_probs, kind="stable")[:top]
        return tuple((self.codec.labels.decode(int(tag)), float(np.exp(log_probs[tag]))) for tag in best)

    def _empty(self) -> TaggedSentence:
        return TaggedSentence("", "", 1.0, [], spans=None if self.codec.scheme is None else ())
