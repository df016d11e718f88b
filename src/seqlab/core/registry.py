"""The choices a room offers: one file per choice, and no list to edit."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module, util
from pathlib import Path
from typing import Generic, TypeVar

from seqlab.core.errors import UsageError, nearest

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """Finds the parts of a room by the names of its files, and imports a file when its part is asked for.

    The part `lstm` lives in `lstm.py` and registers itself there as "lstm"; other files of the room are not parts. Names and first
    sentences are read without importing anything, so `seqlab list` and error messages never wait for torch.
    """

    def __init__(self, kind: str, *, room: str) -> None:
        self.kind = kind
        self._room = room
        self._parts: dict[str, Part] = {}

    def register(self, name: str) -> Callable[[Part], Part]:
        def keep(part: Part) -> Part:
            if name in self._parts:
                raise ValueError(f"{self.kind} '{name}' is registered twice")
            self._parts[name] = part
            return part

        return keep

    def names(self) -> list[str]:
        return sorted(path.stem for path in self._folder().glob("*.py") if f'.register("{path.stem}")' in path.read_text(encoding="utf-8"))

    def get(self, name: str) -> Part:
        if name not in self._parts:  # asked for the first time
            if name not in self.names():
                raise UsageError(f"there is no {self.kind} called '{name}'.", cure=nearest(name, self.names()))
            import_module(f"{self._room}.{name}")
        return self._parts[name]

    def sentence(self, name: str) -> str:
        """The first line of the docstring of the file that holds the part."""
        source = (self._folder() / f"{name}.py").read_text(encoding="utf-8")
        return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]

    def _folder(self) -> Path:
        spec = util.find_spec(self._room)
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin).parent
