"""Checks the shapes that signatures of a package state, on every call, for as long as the tests run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import jaxtyping
from beartype import beartype

Function = TypeVar("Function", bound=Callable[..., Any])


def switch_on(package: str) -> AbstractContextManager[None]:
    """From now on (or until the end of a `with`) modules of a package are imported with their shape
    annotations checked.
    """
    hook: AbstractContextManager[None] = jaxtyping.install_import_hook(package, f"{__name__}.check_shapes")
    return hook


def check_shapes(function: Function) -> Function:
    """Check the annotations of a function that state shapes; leave the others, which mypy checks, alone.

    Checking those too would refuse `Self` (beartype wants the whole class) and names that are imported for
    type checkers only.
    """
    shapes = {name: kind for name, kind in function.__annotations__.items() if _states_a_shape(kind)}
    if not shapes:
        return function
    function.__annotations__ = shapes
    # jaxtyping has put the whole signature here, where beartype would look for the annotations just left out.
    if hasattr(function, "__signature__"):
        signature = inspect.signature(function)
        parameters = [
            p.replace(annotation=shapes.get(p.name, inspect.Parameter.empty))
            for p in signature.parameters.values()
        ]
        function.__signature__ = signature.replace(
            parameters=parameters, return_annotation=shapes.get("return", inspect.Signature.empty)
        )
    return beartype(function)


def _states_a_shape(kind: Any) -> bool:
    """Whether a shape stands in an annotation by itself, in a union or in a tuple of fixed size.

    Arrays inside lists and the like are left alone: their lengths may differ, and beartype looks at one of
    them at random.
    """
    if inspect.isclass(kind) and issubclass(kind, jaxtyping.AbstractArray):
        return True
    parts = get_args(kind)
    if get_origin(kind) not in (Union, UnionType, tuple) or Ellipsis in parts:
        return False
    return any(_states_a_shape(part) for part in parts)
