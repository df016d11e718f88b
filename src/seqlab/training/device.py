"""Choose the device and the number of CPU threads."""

from __future__ import annotations

import torch
from torch import nn

from seqlab.core.errors import RecipeError
from seqlab.core.memory import keep_freed_memory
from seqlab.training.settings import TrainingSettings

LARGE_TENSOR = 16 << 20
"""Minimum size in bytes for which it pays to keep the memory of a parameter's gradient."""


def choose_device(settings: TrainingSettings) -> torch.device:
    """Return the device that the recipe names; `auto` is a GPU if there is one, else the CPU."""
    if settings.device != "auto":
        try:
            device = torch.device(settings.device)
            torch.empty(1, device=device)
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            raise RecipeError(
                f"'{settings.device}' is not available on this machine.",
                where="training.device",
                cure="Use auto or cpu, or a device that torch sees on this machine.",
            ) from error
        return device
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def use_threads(threads: int) -> int:
    """Set the number of CPU threads (0 keeps torch's default) and return the number in use."""
    if threads and threads != torch.get_num_threads():
        torch.set_num_threads(threads)
    return torch.get_num_threads()


def keep_memory_of_large_gradients(model: nn.Module) -> bool:
    """If a parameter is large, ask the allocator to keep freed memory; returns whether it does."""
    return any(parameter.nbytes >= LARGE_TENSOR for parameter in model.parameters()) and keep_freed_memory()
