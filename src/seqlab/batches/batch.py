"""A batch: padded sequences and their targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Int, Shaped
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Sequences padded at the end, with an explicit mask.

    `inputs` holds ids (batch, time), or one vector per step (batch, time, features): numeric series, feature
    vectors and the rows of an image have the same form as text. `targets` contains what the model has to
    predict, by name; `batch["label"]` is shorthand for `batch.targets["label"]`. A target is a class or a number
    per sequence (batch,), several numbers (batch, width), a boolean for each label (batch, classes), or a
    token or tag per step (batch, time). `rows` says which examples of the split these are.
    """

    inputs: Shaped[Tensor, "batch time *features"]
    is_token: Bool[Tensor, "batch time"]
    targets: Mapping[str, Shaped[Tensor, "batch ..."]]
    rows: Int[Tensor, " batch"]
    continues: bool = False
    """Whether each sequence continues the same row of the previous batch (windows over a stream)."""

    def __post_init__(self) -> None:
        for name, target in self.targets.items():
            if len(target) != len(self.rows):
                raise ValueError(
                    f"the batch has {len(self.rows)} rows, but its target '{name}' has {len(target)}"
                )

    def __getitem__(self, name: str) -> Tensor:
        """The target of this name."""
        try:
            return self.targets[name]
        except KeyError:
            raise KeyError(
                f"the batch has no target '{name}'; it has {', '.join(self.targets) or 'none'}"
            ) from None

    @property
    def lengths(self) -> Int[Tensor, " batch"]:
        return self.is_token.sum(dim=1)

    def to(self, device: torch.device) -> Batch:
        return replace(
            self,
            inputs=self.inputs.to(device),
            is_token=self.is_token.to(device),
            targets={name: target.to(device) for name, target in self.targets.items()},
            rows=self.rows.to(device),
        )


def pad(
    sequences: Sequence[NDArray[np.generic]], *, value: int = 0, to_length: int = 0
) -> tuple[Shaped[Tensor, "batch time *features"], Bool[Tensor, "batch time"]]:
    """Pad sequences at the end to the length of the longest (or to `to_length`); also returns the mask of real steps.

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
