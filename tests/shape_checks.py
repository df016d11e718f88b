"""Checks the shapes that signatures of a package state, on every call, for as long as the tests run."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import jaxtyping
from beartype import beartype

Decorated = TypeVar("Decorated")
DECORATOR = f"__import__('sys').modules['{__name__}'].check_shapes"
"""Found without a name that the module itself would have to import."""


def switch_on(package: str) -> AbstractContextManager[None]:
    """From now on (or until the end of a `with`) modules of a package are imported with their shape
    annotations checked.

    `jaxtyping.install_import_hook` wraps every function, also those that state no shape, and checks every
    argument twice: code that calls many small functions takes three times as long.
    """
    finder = _Finder(package)
    sys.meta_path.insert(0, finder)
    return _until_the_end(finder)


def check_shapes(decorated: Decorated) -> Decorated:
    """Check the annotations of a function, or of the fields of a dataclass, that state shapes; leave the
    others, which mypy checks, alone.

    Checking those too would refuse `Self` (beartype wants the whole class) and names that are imported for
    type checkers only.
    """
    if not inspect.isclass(decorated):
        return _checked(decorated)  # type: ignore[arg-type,return-value] # what is decorated is a function
    if dataclasses.is_dataclass(decorated) and "__init__" in vars(decorated):
        decorated.__init__ = _checked(decorated.__init__)  # type: ignore[misc]
    return decorated


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    kinds = {name: _resolved(kind, function.__globals__) for name, kind in function.__annotations__.items()}
    shapes = {name: kind for name, kind in kinds.items() if _states_a_shape(kind)}
    if not shapes:
        return function
    annotations, function.__annotations__ = function.__annotations__, shapes
    if inspect.isgeneratorfunction(function):
        # beartype alone would check when the first value is asked for, in the context of whoever asks.
        checking = jaxtyping.jaxtyped(function, typechecker=beartype)
    else:
        checking = _in_its_own_context(beartype(function))
    function.__annotations__ = checking.__annotations__ = annotations
    return checking


def _in_its_own_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """Axes have one size within a call."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with jaxtyping.jaxtyped("context"):
            return function(*args, **kwargs)

    return call


def _resolved(annotation: Any, names: dict[str, Any]) -> Any:
    """What an annotation in quotes means; None where it names what only type checkers import."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)
    except Exception:  # noqa: BLE001 - evaluating a name of a type checker may fail in any way
        return None


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


@contextmanager
def _until_the_end(finder: MetaPathFinder) -> Iterator[None]:
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.package and not fullname.startswith(f"{self.package}."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module with `check_shapes` as the first decorator of every function and the last of every
    class.
    """

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:
        tree = ast.parse(data, path)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):  # before other decorators, which may hide annotations
                node.decorator_list.append(_decorator(node))
            elif isinstance(node, ast.ClassDef):  # after @dataclass
                node.decorator_list.insert(0, _decorator(node))
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_data(self, path: str) -> bytes:
        return super().get_data(_own_file(path))

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        super().set_data(_own_file(path), data, _mode=_mode)


def _decorator(node: ast.stmt) -> ast.expr:
    expression = ast.parse(DECORATOR, mode="eval").body
    for part in ast.walk(expression):
        ast.copy_location(part, node)
    return expression


def _own_file(path: str) -> str:
    """Compiled modules with checks are kept beside those without, never in their place."""
    return f"{path.removesuffix('.pyc')}.checked.pyc" if path.endswith(".pyc") else path
