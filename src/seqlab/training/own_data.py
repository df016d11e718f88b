"""Data and losses of the user's own as the training loop sees them: an objective over two datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import default_collate

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.batches.samplers import Indices, ShuffledSampler
from seqlab.core.errors import DataError, UsageError
from seqlab.training.base import BatchLoss, Carry, Validation
from seqlab.training.checkpoints.snapshot import capture_random_state, restore_random_state

Collate = Callable[[list[Any]], Any]
Measure = Callable[[Any, Any], Any]
"""A function of outputs and targets that returns the mean over the targets: a loss or a metric."""
Forward = Callable[[nn.Module, Any], tuple[Any, Any]]
LOSS = "loss"


class Examples(Protocol):
    """A dataset with random access, such as a list or a map-style `torch.utils.data.Dataset`."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


@dataclass(frozen=True)
class CollatedBatch(Batch):
    """A batch in the form that the user's `collate` returns.

    `inputs` is one of its tensors, flattened, in which the loop can name examples that are not finite.
    """

    content: Any = None

    @classmethod
    def of(cls, content: Any, rows: Indices) -> CollatedBatch:
        tensors = [tensor for tensor in tensors_in(content) if tensor.dim() and len(tensor) == len(rows)]
        numeric = [tensor for tensor in tensors if tensor.is_floating_point()]
        shown = (numeric or tensors or [torch.zeros(len(rows))])[0].reshape(len(rows), -1)  # (batch, time)
        return cls(
            shown, torch.zeros(shown.shape, dtype=torch.bool), {}, torch.from_numpy(rows), content=content
        )

    def to(self, device: torch.device) -> CollatedBatch:
        return replace(
            self,
            inputs=self.inputs.to(device),
            is_token=self.is_token.to(device),
            rows=self.rows.to(device),
            content=moved(self.content, device),
        )


class OwnObjective:
    """Minimizes a loss of outputs and targets, and validates it with metrics."""

    def __init__(
        self,
        loss: Measure,
        *,
        train: Examples,
        valid: Examples,
        batch_size: int,
        seed: int,
        collate: Collate = default_collate,
        forward: Forward | None = None,
        metrics: Mapping[str, Measure] | None = None,
        monitor: str = LOSS,
        higher_is_better: bool = False,
    ) -> None:
        self.measures = {LOSS: loss, **(metrics or {})}
        self.train, self.valid = train, valid
        self.batch_size, self.seed = batch_size, seed
        self.collate = collate
        self.forward = forward or call_model
        self.monitor, self.higher_is_better = monitor, higher_is_better

    def loader(self, cursor: Cursor) -> Loader:
        sampler = ShuffledSampler(len(self.train), batch_size=self.batch_size, seed=self.seed)
        return Loader(sampler, lambda rows, _: self._batch(self.train, rows), cursor=cursor)

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        assert isinstance(batch, CollatedBatch)
        outputs, targets = self.forward(model, batch.content)
        count = num_targets(targets, rows=len(batch.rows))
        return BatchLoss(_scalar(self.measures[LOSS](outputs, targets), LOSS) * count, count, correct=None)

    def validate(self, model: nn.Module) -> Validation:
        device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
        totals, count = dict.fromkeys(self.measures, 0.0), 0
        for batch in self._valid_batches():
            outputs, targets = self.forward(model, batch.to(device).content)
            number = num_targets(targets, rows=len(batch.rows))
            for name, measure in self.measures.items():
                totals[name] += float(measure(outputs, targets)) * number
            count += number
        if not count:
            raise DataError("the validation data has no targets.", where="valid=")
        means = {name: total / count for name, total in totals.items()}
        facts = {f"valid_{name}": mean for name, mean in means.items()}
        return Validation(means[self.monitor], self.higher_is_better, facts, loss=means[LOSS])

    def rehearse(self, model: nn.Module, *, device: torch.device) -> None:
        """Compute one loss without changing anything, so that mistakes show before anything is written."""
        random, was_training = capture_random_state(device), model.training
        model.to(device).eval()
        try:
            with torch.no_grad():
                self.loss(model, self.loader(Cursor()).take().to(device), step=0, carry=())
        finally:
            model.train(was_training)
            restore_random_state(random, device)

    def describe_rows(self, batch: Batch) -> str:
        return f"training examples {', '.join(map(str, batch.rows.tolist()))}"

    def sample(self, model: nn.Module) -> str:
        return ""

    def _valid_batches(self) -> Iterator[CollatedBatch]:
        rows = np.arange(len(self.valid), dtype=np.int64)
        for start in range(0, len(rows), self.batch_size):
            yield self._batch(self.valid, rows[start : start + self.batch_size])

    def _batch(self, examples: Examples, rows: Indices) -> CollatedBatch:
        return CollatedBatch.of(self.collate([examples[int(row)] for row in rows]), rows)


def call_model(model: nn.Module, batch: Any) -> tuple[Any, Any]:
    """Call the model with everything in a batch except the last part, which is the targets."""
    if not isinstance(batch, Sequence) or len(batch) < 2:
        raise UsageError(
            f"expected batches of the form (inputs, targets), found {type(batch).__name__}.",
            where="train=",
            cure="Pass forward=, a function of the model and a batch that returns outputs and targets.",
        )
    *inputs, targets = batch
    return model(*inputs), targets


def num_targets(targets: Any, *, rows: int) -> int:
    """The number of targets that a mean is over: the length of a tensor, else the examples of the batch.

    >>> num_targets(torch.zeros(7), rows=2), num_targets({"start": 1}, rows=2)
    (7, 2)
    """
    return len(targets) if isinstance(targets, Tensor) and targets.dim() else rows


def tensors_in(content: Any) -> Iterator[Tensor]:
    """All tensors in nested lists, tuples and dicts, in order."""
    if isinstance(content, Tensor):
        yield content
    elif isinstance(content, Mapping):
        for part in content.values():
            yield from tensors_in(part)
    elif isinstance(content, list | tuple):
        for part in content:
            yield from tensors_in(part)


def moved(content: Any, device: torch.device) -> Any:
    """Move all tensors in nested lists, tuples and dicts to a device."""
    if hasattr(content, "to"):
        return content.to(device)
    if isinstance(content, Mapping):
        return {name: moved(part, device) for name, part in content.items()}
    if isinstance(content, tuple) and hasattr(content, "_fields"):
        return type(content)(*(moved(part, device) for part in content))
    if isinstance(content, list | tuple):
        return type(content)(moved(part, device) for part in content)
    return content


def _scalar(value: Any, name: str) -> Tensor:
    if not isinstance(value, Tensor) or value.numel() != 1:
        found = (
            f"a tensor of shape {list(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        )
        raise UsageError(
            f"expected one number, the mean over the targets, found {found}.",
            where=name,
            cure='With a loss of torch.nn, use reduction="mean".',
        )
    return value.reshape(())
