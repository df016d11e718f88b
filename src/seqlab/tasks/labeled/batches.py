"""Batches of labeled sequences: shuffled for training, each example once for evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader, one_pass
from seqlab.batches.samplers import BucketSampler, Indices, LengthOrderSampler, ShuffledSampler
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.training.settings import TrainingSettings

EVALUATION_BATCH, EVALUATION_STEPS = 256, 32_768
"""At most this many sequences, and padded steps, are evaluated together."""

AnySplit = TypeVar("AnySplit", bound=LabeledSplit, contravariant=True)


class Collator(Protocol[AnySplit]):
    """A codec that makes batches."""

    def collate(self, split: AnySplit, rows: Indices) -> Batch:
        """Some examples of a split as one batch."""


def training_loader(
    codec: Collator[AnySplit], split: AnySplit, training: TrainingSettings, cursor: Cursor
) -> Loader:
    """Shuffled batches; with `training.group_by_length`, sequences of similar length share a batch."""
    size, seed = min(training.batch_size, len(split)), training.seed
    sampler = (
        BucketSampler(split.steps.lengths, batch_size=size, seed=seed)
        if training.group_by_length
        else ShuffledSampler(len(split), batch_size=size, seed=seed)
    )
    return Loader(sampler, lambda rows, _: codec.collate(split, rows), cursor=cursor)


def evaluation_batches(codec: Collator[AnySplit], split: AnySplit) -> Iterable[Batch]:
    """Every example once, sequences of equal length together."""
    sampler = LengthOrderSampler(
        split.steps.lengths, batch_size=EVALUATION_BATCH, most_steps=EVALUATION_STEPS
    )
    return one_pass(sampler, lambda rows, _: codec.collate(split, rows))
