"""A misspelled keyword argument of a layer is answered with the closest name, as Python 3.13 does for functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from seqlab.core.errors import closest

Layer = TypeVar("Layer")
Arguments = ParamSpec("Arguments")


def suggests_arguments(
    init: Callable[Concatenate[Layer, Arguments], None],
) -> Callable[Concatenate[Layer, Arguments], None]:
    """Decorate the `__init__` of a layer: its TypeError for an unknown argument suggests one that it has."""
    known = [name for name in inspect.signature(init).parameters if name != "self"]

    @wraps(init)
    def checked(self: Layer, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        if unknown := next((name for name in kwargs if name not in known), ""):
            close = closest(unknown, known)
            hint = f". Did you mean '{close}'?" if close else f". Arguments: {', '.join(known)}."
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{unknown}'{hint}"
            )
        init(self, *args, **kwargs)

    return checked
