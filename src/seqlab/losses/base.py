"""What a loss gives back."""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor


class LossValue(NamedTuple):
    """The loss summed over the targets of a batch, and how many of the targets got the highest score.

    It may be the output of a network: a tuple of tensors is what wrappers such as DistributedDataParallel
    understand.
    """

    total: Float[Tensor, ""]
    correct: Int[Tensor, ""]
