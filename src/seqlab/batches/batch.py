"""What a model is given at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Sequences side by side, padded at the end, with an explicit mask.

    `inputs` holds ids (batch, time), or one vector per step (batch, time, features): numeric series, feature
    vectors and the rows of an image come in the same way as text. `targets` is what the task wants to see: a
    class or a number per sequence (batch,), a yes or no for each label (batch, classes), or a token per step
    (batch, time). `rows` says which examples of the split these are.
    """

    inputs: Shaped[Tensor, "batch time *features"]
    is_token: Bool[Tensor, "batch time"]
    targets: Shaped[Tensor, "batch *target"]
    rows: Int[Tensor, " batch"]
    continues: bool = False
    """Whether each sequence goes on where the same place of the batch before ended (windows over a
    stream).
    """

    @property
    def lengths(self) -> Int[Tensor, " batch"]:
        return self.is_token.sum(dim=1)

    def to(self, device: torch.device) -> Batch:
        return replace(
            self,
            inputs=self.inputs.to(device),
            is_token=self.is_token.to(device),
            targets=self.targets.to(device),
            rows=self.rows.to(device),
        )
