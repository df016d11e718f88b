"""The memory that autograd keeps for the backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass
class SavedTensors:
    """The storages that a graph keeps, each counted once."""

    bytes_by_storage: dict[int, int] = field(default_factory=dict)

    @property
    def num_bytes(self) -> int:
        return sum(self.bytes_by_storage.values())


@contextmanager
def saved_for_backward() -> Iterator[SavedTensors]:
    """Counts the tensors that operations inside this context keep for their backward pass, except
    parameters.
    """
    saved = SavedTensors()

    def keep(tensor: Tensor) -> Tensor:
        if not (tensor.is_leaf and tensor.requires_grad):
            storage = tensor.untyped_storage()
            saved.bytes_by_storage[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        yield saved
