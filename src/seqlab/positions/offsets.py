"""Positions of the steps of a sequence that is processed in chunks."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def compute_position_ids(
    is_token: Bool[Tensor, "batch source"], *, time: int
) -> tuple[Int[Tensor, "#batch time"], Int[Tensor, "#batch source"]]:
    """The positions of the last `time` steps, and of all steps; padding between two chunks is not counted.

    >>> compute_position_ids(torch.tensor([[True, False, True, True]]), time=2)
    (tensor([[1, 2]]), tensor([[0, 1, 1, 2]]))
    """
    source = is_token.shape[1]
    before = is_token[:, : source - time]
    if bool(before.all()):
        position_ids = torch.arange(source, device=is_token.device).unsqueeze(0)  # (1, source)
        return position_ids[:, source - time :], position_ids
    first = torch.cat(
        [before.cumsum(dim=1) - before.int(), before.sum(dim=1, keepdim=True)], dim=1
    )  # (batch, seen + 1)
    new = first[:, -1:] + torch.arange(time, device=is_token.device)  # (batch, time)
    return new, torch.cat([first[:, :-1], new], dim=1)
