"""Which tensors hold a NaN or an infinity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor


def non_finite_names(tensors: Iterable[tuple[str, Tensor]]) -> Iterator[str]:
    """The names of the tensors in which not every number is finite."""
    return (name for name, tensor in tensors if not is_finite(tensor))


def is_finite(tensor: Tensor) -> bool:
    """Whether every number is finite.

    A NaN or an infinity makes the sum one too, and a sum takes a small part of the time of `torch.isfinite`, which is asked
    only where the sum may have overflowed.
    """
    return bool(torch.isfinite(tensor.sum())) or bool(torch.isfinite(tensor).all())
