"""Get the names and shapes of a model's tensors without allocating them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from seqlab.core.errors import RecipeError

DRAWS = ("normal_", "uniform_")


class _SkipRandomInit(TorchFunctionMode):
    """Skips random initialization on the meta device. torch skips it too, but first imports its compiler,
    which takes seconds.
    """

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(function, "__name__", "") in DRAWS:
            return args[0] if args else (kwargs or {})["tensor"]
        return function(*args, **(kwargs or {}))


def shapes_of(build: Callable[[], nn.Module]) -> dict[str, Tensor]:
    """Return the model's state dict on the meta device. Nothing is allocated, so an untrusted recipe is
    safe.
    """
    try:
        with torch.device("meta"), _SkipRandomInit():
            return build().state_dict()
    except (RuntimeError, OverflowError, TypeError) as error:  # sizes that overflow
        raise RecipeError(
            "a model of this size does not fit on any machine.",
            where="model",
            cure="Restore the recipe of the run.",
        ) from error
