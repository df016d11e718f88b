"""The options of a part: the keyword-only parameters of its constructor that have a default.

They are read from a class, or from the source of a class that is not imported yet: the settings of a cell are
then known before torch is.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module, util
from pathlib import Path
from typing import Any, get_type_hints

Options = dict[str, tuple[Any, Any]]
"""Annotation and default of each option, by name."""


def options_of_class(kind: type) -> Options:
    """
    >>> class Cell:
    ...     def __init__(self, size: int, *, bias: bool = True) -> None: ...
    >>> options_of_class(Cell)
    {'bias': (<class 'bool'>, True)}
    """
    hints = get_type_hints(kind.__init__, include_extras=True)  # type: ignore[misc]  # the constructor's signature
    return {
        name: (hints.get(name, Any), parameter.default)
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
    }


def options_in_source(module: str, name: str) -> Options:
    """The options of the class that a module registers under a name; nothing but the types of its options is
    imported.
    """
    scope = _Scope.of(module)
    registered = next(node for node in scope.classes() if name in _registered_names(node))
    return _read_options(registered, scope)


def _read_options(node: ast.ClassDef, scope: _Scope) -> Options:
    constructor = next(
        (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None
    )
    if constructor is None:  # that of the class it inherits from
        base = node.bases[0]
        assert isinstance(base, ast.Name)
        base_scope = _Scope.of(scope.imports.get(base.id, scope.module))
        return _read_options(
            next(definition for definition in base_scope.classes() if definition.name == base.id), base_scope
        )
    arguments = constructor.args
    return {
        argument.arg: (scope.evaluate(argument.annotation), scope.evaluate(default))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None and argument.annotation is not None
    }


def _registered_names(node: ast.ClassDef) -> list[str]:
    """The names under which decorators register a class."""
    return [
        str(decorator.args[0].value)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call) and decorator.args and isinstance(decorator.args[0], ast.Constant)
    ]


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a module, and those below its `if TYPE_CHECKING`; not those of functions and classes."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _statements(node.body)


class _Scope(dict[str, Any]):
    """The names of a module, each imported or computed when it is first needed."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        self.module = module
        self._tree = tree
        self.imports = {
            alias.asname or alias.name: node.module
            for node in _statements(tree.body)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }

    @classmethod
    @cache
    def of(cls, module: str) -> _Scope:
        spec = util.find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        return cls(module, ast.parse(Path(spec.origin).read_text(encoding="utf-8")))

    def classes(self) -> Iterator[ast.ClassDef]:
        return (node for node in self._tree.body if isinstance(node, ast.ClassDef))

    def evaluate(self, expression: ast.expr) -> Any:
        code = compile(ast.Expression(expression), self.module, "eval")
        return eval(code, {"__builtins__": builtins}, self)  # noqa: S307  # our own source, as importing it

    def __missing__(self, name: str) -> Any:
        if name in self.imports:
            self[name] = getattr(import_module(self.imports[name]), name)
            return self[name]
        for node in self._tree.body:
            target = node.target if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])[0]
            if isinstance(node, ast.Assign | ast.AnnAssign) and getattr(target, "id", "") == name:
                assert node.value is not None
                self[name] = self.evaluate(node.value)
                return self[name]
        raise KeyError(name)
