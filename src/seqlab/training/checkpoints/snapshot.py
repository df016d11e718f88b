"""Save everything the next update depends on as named tensors, and restore it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from seqlab.training.averaging import Average
from seqlab.training.base import Carry
from seqlab.training.optimizers.base import load_named_state, named_state

MODEL = "model."


def take_snapshot(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: Average,
    carry: Carry,
    *,
    device: torch.device,
) -> dict[str, Tensor]:
    """Return the weights, optimizer state, averaged weights, random number generators and carried state."""
    return {
        **{f"{MODEL}{name}": tensor for name, tensor in model.state_dict().items()},
        **{f"optimizer.{name}": tensor for name, tensor in named_state(optimizer)},
        **{f"average.{name}": tensor for name, tensor in average.state().items()},
        **{f"random.{name}": tensor for name, tensor in capture_random_state(device).items()},
        **{f"carry.{number:02d}": tensor for number, tensor in enumerate(carry)},
    }


def restore_snapshot(
    tensors: Mapping[str, Tensor],
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: Average,
    *,
    device: torch.device,
) -> Carry:
    """Restore a snapshot; returns the carried state."""
    parts: dict[str, dict[str, Tensor]] = {
        "model": {},
        "optimizer": {},
        "average": {},
        "random": {},
        "carry": {},
    }
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        parts[part][rest] = tensor
    model.load_state_dict(parts["model"])
    load_named_state(optimizer, parts["optimizer"])
    average.load_state(parts["average"])
    restore_random_state(parts["random"], device)
    return tuple(parts["carry"][name].to(device) for name in sorted(parts["carry"]))


def weights_in(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the model's part of a snapshot."""
    return {name.removeprefix(MODEL): tensor for name, tensor in tensors.items() if name.startswith(MODEL)}


def capture_random_state(device: torch.device) -> dict[str, Tensor]:
    """Return the state of torch's random number generators, the only ones that training uses.

    The order of the data and masking depend on (seed, epoch) only.
    """
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def restore_random_state(states: dict[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
    elif "mps" in states and device.type == "mps":
        torch.mps.set_rng_state(states["mps"])
