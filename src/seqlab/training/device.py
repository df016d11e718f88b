"""Where the tensors live and how many threads work on them."""

from __future__ import annotations

import torch
from torch import nn

from seqlab.core.errors import RecipeError
from seqlab.core.memory import keep_freed_memory
from seqlab.training.settings import TrainingSettings

LARGE_TENSOR = 16 << 20
"""Bytes of a parameter from which on it pays to keep the memory of its gradients."""


def choose_device(settings: TrainingSettings) -> torch.device:
    """The device that the recipe names; `auto` is a GPU when there is one, else the CPU."""
    if settings.device != "auto":
        try:
            device = torch.device(settings.device)
            torch.empty(1, device=device)
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            raise RecipeError(
                f"'{settings.device}' cannot be used here.",
                where="training.device",
                cure="Use auto or cpu, or a device that torch sees on this machine.",
            ) from error
        return device
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def use_threads(threads: int) -> int:
    """Set the number of CPU threads (0 keeps torch's choice) and return what is in use."""
    if threads and threads != torch.get_num_threads():
        torch.set_num_threads(threads)
    return torch.get_num_threads()


def keep_memory_of_large_gradients(model: nn.Module) -> bool:
    """Where a parameter is large, ask the system to leave freed memory with this process; whether it was
    asked and did so.
    """
    return any(parameter.nbytes >= LARGE_TENSOR for parameter in model.parameters()) and keep_freed_memory()
