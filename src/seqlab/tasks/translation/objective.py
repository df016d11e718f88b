"""Batches of pairs, and a sample translation during training."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.batch import Batch, pad
from seqlab.batches.samplers import Indices
from seqlab.sources.base import text_of
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.seq2seq.objective import Seq2SeqObjective
from seqlab.tasks.seq2seq.scores import format_sample
from seqlab.tasks.split import Split
from seqlab.tasks.translation.codec import TranslationCodec
from seqlab.tasks.translation.pair_tokens import row_language
from seqlab.tasks.translation.predictor import TranslationPredictor


class TranslationObjective(Seq2SeqObjective[TranslationCodec, Split]):
    """Cross-entropy of the next target token."""

    def pair_lengths(self, split: Split) -> NDArray[np.int64]:
        return np.stack([split.store["source"].lengths, split.store["target"].lengths], axis=1)

    def collate(self, split: Split, rows: Indices) -> Batch:
        sources, targets, tokens = split.store["source"], split.store["target"], self.codec.tokens
        inputs, is_token = pad([sources[row] for row in rows.tolist()], value=tokens.source.vocabulary.pad_id)
        target, _ = pad([targets[row] for row in rows.tolist()], value=tokens.target.vocabulary.pad_id)
        return Batch(inputs, is_token, {"target": target}, torch.from_numpy(rows))

    def sample(self, model: nn.Module) -> str:
        """Translate the first validation pair."""
        data = self.recipe.data
        split = self.splits["valid" if "valid" in self.splits else "train"]
        row = next(iter(split.rows.rows()))
        text = text_of(row, data.source)
        predictor = TranslationPredictor(self.codec, model, Calibration())
        ((best, *_),) = predictor.translate([text], row_language(row, data.language))
        return format_sample(text, best.text, text_of(row, data.target))
