"""The objective of tasks with one answer for a whole sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.models.count_statistics import Example, fit_count_statistics
from seqlab.tasks.labeled.batches import evaluation_batches, training_loader
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.labeled.whole_sequence_codec import WholeSequenceCodec
from seqlab.tasks.objective import Objective

AnyCodec = TypeVar("AnyCodec", bound=WholeSequenceCodec)


class WholeSequenceObjective(Objective[AnyCodec, LabeledSplit]):
    """Batches of the training split, and the counts of layers that count."""

    def fit_statistics(self, model: nn.Module) -> None:
        def examples() -> Iterator[Example]:
            for batch in evaluation_batches(self.codec, self.splits["train"]):
                yield batch.inputs, batch.is_token, self.class_membership(batch)

        fit_count_statistics(model, examples)

    def class_membership(self, batch: Batch) -> Float[Tensor, "batch classes"] | None:
        """1 where a sequence belongs to a class, else 0; None where answers are not classes."""
        return None

    def loader(self, cursor: Cursor) -> Loader:
        return training_loader(self.codec, self.splits["train"], self.recipe.training, cursor)

    def describe_rows(self, batch: Batch) -> str:
        return self.splits["train"].describe_rows(batch)
