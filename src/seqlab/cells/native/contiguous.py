"""Tensors as a kernel reads them: element after element in memory, each with its own sign."""

from __future__ import annotations

from torch import Tensor


def as_contiguous(tensor: Tensor) -> Tensor:
    """The tensor itself, or a copy if its strides or a flag for its sign (`x.conj().imag`) need one."""
    return tensor.resolve_neg().contiguous()
