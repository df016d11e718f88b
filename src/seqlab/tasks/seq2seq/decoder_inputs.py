"""The inputs of a decoder in training: the targets shifted by one, or its own predictions (scheduled
sampling).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Int
from torch import Tensor


@dataclass(frozen=True)
class ShiftedTargets:
    """At every step the decoder reads `inputs` and predicts `next_tokens`."""

    inputs: Int[Tensor, "batch time"]
    next_tokens: Int[Tensor, "batch time"]
    is_target: Bool[Tensor, "batch time"]


def shift_targets(targets: Int[Tensor, "batch steps"], *, pad_id: int) -> ShiftedTargets:
    """Shift targets by one step. targets: from the start token to the end token, padded at the end.

    >>> shifted = shift_targets(torch.tensor([[2, 7, 8, 3], [2, 9, 3, 1]]), pad_id=1)
    >>> shifted.inputs.tolist(), shifted.next_tokens.tolist()
    ([[2, 7, 8], [2, 9, 3]], [[7, 8, 3], [9, 3, 1]])
    >>> shifted.is_target.tolist()
    [[True, True, True], [True, True, False]]
    """
    inputs, next_tokens = targets[:, :-1], targets[:, 1:]
    is_real = targets.cpu().numpy() != pad_id
    is_real[:, 0] = True  # some published models start with the padding token
    lengths = torch.from_numpy(is_real.shape[1] - is_real[:, ::-1].argmax(axis=1)).to(targets.device)
    is_target = torch.arange(inputs.shape[1], device=targets.device) < lengths[:, None] - 1
    return ShiftedTargets(inputs, next_tokens, is_target)


def draw_predicted(
    targets: Int[Tensor, "batch time"], teacher_forcing_ratio: float, *, per: Literal["sequence", "token"]
) -> Bool[Tensor, "batch time"] | None:
    """Draw where the decoder reads its own prediction (True); None if it reads only targets.

    teacher_forcing_ratio: the probability of reading the target, sampled once per sequence or per token.
    Paper: Bengio et al. 2015, arXiv:1506.03099, section 2.4 (per token); per sequence: the lecture's form.
    """
    batch, time = targets.shape
    drawn = torch.rand(batch, 1 if per == "sequence" else time, device=targets.device)
    is_predicted = drawn >= teacher_forcing_ratio
    return is_predicted.expand(batch, time) if bool(is_predicted.any()) else None
