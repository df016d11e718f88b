"""Sequences of different lengths -> one tensor and its mask."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Shaped
from numpy.typing import NDArray
from torch import Tensor


def pad(
    sequences: Sequence[NDArray[np.generic]], *, value: int = 0, to_length: int = 0
) -> tuple[Shaped[Tensor, "batch time *features"], Bool[Tensor, "batch time"]]:
    """Fill sequences up at the end to the longest one (or to `to_length`), and say which steps are real.

    >>> padded, is_token = pad([np.array([5, 6, 7]), np.array([8])], value=1)
    >>> padded.tolist(), is_token.tolist()
    ([[5, 6, 7], [8, 1, 1]], [[True, True, True], [True, False, False]])
    """
    lengths = np.array([len(sequence) for sequence in sequences])
    time = max(int(lengths.max()), to_length)
    first = sequences[0]
    kind = np.int64 if first.dtype.kind in "iu" else np.float32
    padded = np.full((len(sequences), time, *first.shape[1:]), value, dtype=kind)
    for row, sequence in enumerate(sequences):
        padded[row, : len(sequence)] = sequence
    is_token = np.arange(time) < lengths[:, None]  # (batch, time)
    return torch.from_numpy(padded), torch.from_numpy(is_token)
