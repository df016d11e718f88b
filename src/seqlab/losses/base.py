"""The result type of losses."""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor


class LossValue(NamedTuple):
    """The loss summed over the targets of a batch, and the number of correct targets (those with the highest
    score).

    It may be the output of a network: wrappers such as DistributedDataParallel support tuples of tensors.
    """

    total: Float[Tensor, ""]
    correct: Int[Tensor, ""]
