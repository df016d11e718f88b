"""Batches of images with captions, and a sample caption during training."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.batch import Batch, pad
from seqlab.batches.samplers import Indices
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.captioning.codec import CaptioningCodec, collect_image_items
from seqlab.tasks.captioning.encoding import CaptionSplit
from seqlab.tasks.captioning.predictor import CaptioningPredictor
from seqlab.tasks.seq2seq.objective import Seq2SeqObjective
from seqlab.tasks.seq2seq.scores import format_sample

PIXELS_PER_TOKEN = 16
"""Number of pixels that cost about as much as one text token."""


class CaptioningObjective(Seq2SeqObjective[CaptioningCodec, CaptionSplit]):
    """Cross-entropy of the next token of the caption."""

    def pair_lengths(self, split: CaptionSplit) -> NDArray[np.int64]:
        captions, inputs = split.store["caption"].lengths, self.codec.inputs
        image_length = max(1, inputs.height * inputs.width // PIXELS_PER_TOKEN)
        return np.stack([np.full_like(captions, image_length), captions], axis=1)

    def collate(self, split: CaptionSplit, rows: Indices) -> Batch:
        captions, numbers, pixels = split.store["caption"], split.store["image"], split.images["pixels"]
        steps = self.codec.inputs.steps(np.stack([pixels[number] for number in numbers[rows].tolist()]))
        pad_id = self.codec.tokens.target.vocabulary.pad_id
        targets, _ = pad([captions[row] for row in rows.tolist()], value=pad_id)
        is_step = torch.ones(steps.shape[:2], dtype=torch.bool)
        return Batch(steps, is_step, {"target": targets}, torch.from_numpy(rows))

    def sample(self, model: nn.Module) -> str:
        """Generate the caption of the first validation image."""
        split = self.splits["valid" if "valid" in self.splits else "train"]
        item = collect_image_items(self.codec, split)[0]
        predictor = CaptioningPredictor(self.codec, model, Calibration())
        ((best, *_),) = predictor.generate([self.codec.inputs.steps(split.images["pixels"][0])])
        return format_sample(item.text, self.codec.tokens.decode(best.tokens), item.references[0])
