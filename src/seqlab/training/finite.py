"""Find tensors that contain NaN or infinity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor


def non_finite_names(tensors: Iterable[tuple[str, Tensor]]) -> Iterator[str]:
    """Yield the names of tensors with values that are not finite."""
    return (name for name, tensor in tensors if not is_finite(tensor))


def is_finite(tensor: Tensor) -> bool:
    """Whether all values are finite.

    NaN and infinity propagate to the sum, which is much faster than `torch.isfinite`; that is only called
    if the sum may have overflowed.
    """
    return bool(torch.isfinite(tensor.sum())) or bool(torch.isfinite(tensor).all())
