"""Where steps stand when a sequence comes in pieces."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def places_of(known: Bool[Tensor, "batch source"], *, time: int) -> tuple[Int[Tensor, "#batch time"], Int[Tensor, "#batch source"]]:
    """Where the last `time` steps stand, and where all steps stand: padding between two pieces takes no place.

    >>> places_of(torch.tensor([[True, False, True, True]]), time=2)
    (tensor([[1, 2]]), tensor([[0, 1, 1, 2]]))
    """
    source = known.shape[1]
    before = known[:, : source - time]
    if bool(before.all()):
        places = torch.arange(source, device=known.device).unsqueeze(0)  # (1, source)
        return places[:, source - time :], places
    first = torch.cat([before.cumsum(dim=1) - before.int(), before.sum(dim=1, keepdim=True)], dim=1)  # (batch, seen + 1)
    new = first[:, -1:] + torch.arange(time, device=known.device)  # (batch, time)
    return new, torch.cat([first[:, :-1], new], dim=1)
