"""Where the tensors live and how many threads work on them."""

from __future__ import annotations

import torch

from seqlab.core.errors import RecipeError
from seqlab.training.settings import TrainingSettings


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
