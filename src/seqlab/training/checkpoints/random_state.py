"""All random number generators that training may touch, written down and put back."""

from __future__ import annotations

import torch
from torch import Tensor


def capture(device: torch.device) -> dict[str, Tensor]:
    """The states of torch's generators.

    Nothing else is used: order and masking are keyed by (seed, epoch).
    """
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def restore(states: dict[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
    elif "mps" in states and device.type == "mps":
        torch.mps.set_rng_state(states["mps"])
