"""The names and shapes of a model's tensors, without the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from seqlab.core.errors import RecipeError

DRAWS = ("normal_", "uniform_")


class _NoDraws(TorchFunctionMode):
    """Random draws into a tensor without memory do nothing. torch does nothing either, but imports its
    compiler first, for seconds.
    """

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(function, "__name__", "") in DRAWS:
            return args[0] if args else (kwargs or {})["tensor"]
        return function(*args, **(kwargs or {}))


def shapes_of(build: Callable[[], nn.Module]) -> dict[str, Tensor]:
    """What the model's state will look like. Nothing is allocated, so a recipe from anywhere may be tried."""
    try:
        with torch.device("meta"), _NoDraws():
            return build().state_dict()
    except (RuntimeError, OverflowError, TypeError) as error:  # sizes beyond what can be counted
        raise RecipeError(
            "no machine can hold a model of these sizes.",
            where="model",
            cure="Restore the recipe of the run.",
        ) from error
