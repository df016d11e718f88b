"""The named choices that a package offers: one file per choice, with no list to maintain."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cached_property
from importlib import import_module, util
from pathlib import Path
from typing import Generic, TypeVar

from seqlab.core.errors import UsageError, nearest
from seqlab.core.plugins import PLUGIN_HINT, load_installed_plugins

Part = TypeVar("Part")
_REGISTRATION = re.compile(r'^@\w+\.register\("(\w+)"\)', re.MULTILINE)


def first_paragraph(docstring: str) -> str:
    """The first paragraph of a docstring, on one line.

    >>> first_paragraph("One sentence,\\n    on two lines.\\n\\n    More.")
    'One sentence, on two lines.'
    """
    return " ".join(docstring.strip().partition("\n\n")[0].split())


def _is_same_definition(part: object, other: object) -> bool:
    """Whether a definition was re-executed, as in a notebook: the newer one replaces the older."""
    place, other_place = (
        [getattr(value, name, None) for name in ("__module__", "__qualname__")] for value in (part, other)
    )
    return None not in place and place == other_place


class Registry(Generic[Part]):
    """Finds the parts of a package by name and imports the file of a part when it is first requested.

    A part registers itself with a decorator, ``@cells.register("lstm")``, in any file below the package. The
    names and summaries of built-in parts are read from these files without importing them, so `seqlab list`
    and error messages never wait for torch. Plug-ins register their parts the same way when they are
    imported.
    """

    def __init__(self, kind: str, *, package: str) -> None:
        self.kind = kind
        self._package = package
        self._parts: dict[str, Part] = {}

    def register(self, name: str) -> Callable[[Part], Part]:
        """Decorator that makes a part available under a name."""

        def keep(part: Part) -> Part:
            is_built_in = getattr(part, "__module__", "").startswith(f"{self._package}.")
            is_taken = name in self._parts and not _is_same_definition(part, self._parts[name])
            if is_taken or (name in self._built_in and not is_built_in):
                raise ValueError(f"{self.kind} '{name}' is registered twice")
            self._parts[name] = part
            return part

        return keep

    def __contains__(self, name: str) -> bool:
        """Whether there is such a part. Plug-ins are imported only if no other part has the name."""
        return name in self._built_in or name in self._parts or name in self.names()

    def names(self) -> list[str]:
        """All names: built-in parts, installed plug-ins, and parts registered by the program."""
        load_installed_plugins()
        return sorted({*self._built_in, *self._parts})

    def get(self, name: str) -> Part:
        if name not in self._parts and name in self._built_in:
            import_module(self._built_in[name])
        if name not in self._parts and name not in self.names():
            raise UsageError(
                f"there is no {self.kind} called '{name}'.",
                cure=f"{nearest(name, self.names())} {PLUGIN_HINT}",
            )
        return self._parts[name]

    def built_in_module(self, name: str) -> str:
        """The module that registers a built-in part; empty for a part of a plug-in."""
        return self._built_in.get(name, "")

    def summary(self, name: str) -> str:
        """The first paragraph of the docstring: of the file for a built-in part, of the part itself for others."""
        if name not in self._built_in:
            return first_paragraph(self.get(name).__doc__ or "")
        spec = util.find_spec(self._built_in[name])
        assert spec is not None
        assert spec.origin is not None
        source = Path(spec.origin).read_text(encoding="utf-8")
        return first_paragraph(ast.get_docstring(ast.parse(source)) or "")

    def summaries(self) -> dict[str, str]:
        """The summaries of all parts, by name."""
        return {name: self.summary(name) for name in self.names()}

    @cached_property
    def _built_in(self) -> dict[str, str]:
        """The module of every built-in part, by name."""
        spec = util.find_spec(self._package)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        modules = {}
        for path in sorted(folder.rglob("*.py")):
            for name in _REGISTRATION.findall(path.read_text(encoding="utf-8")):
                modules[name] = ".".join([self._package, *path.relative_to(folder).with_suffix("").parts])
        return modules
