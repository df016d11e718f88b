"""Scheduled sampling: which inputs of a decoder are targets, and which are its own predictions, while it
learns.
"""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def draw_predicted(
    targets: Int[Tensor, "batch time"], teacher_forcing_ratio: float, *, per: Literal["sequence", "token"]
) -> Bool[Tensor, "batch time"] | None:
    """True where the decoder reads its own prediction; None where it reads targets only.

    teacher_forcing_ratio: the probability of the target, drawn once per sequence or for each token.
    Paper: Bengio et al. 2015, arXiv:1506.03099, section 2.4 (per token); per sequence: the lecture's form.
    """
    batch, time = targets.shape
    drawn = torch.rand(batch, 1 if per == "sequence" else time, device=targets.device)
    is_predicted = drawn >= teacher_forcing_ratio
    return is_predicted.expand(batch, time) if bool(is_predicted.any()) else None
