"""What is true about a file, and the list of all files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Truth:
    """What a person who knows the file would say about it.

    rows: rows that can be learned from. columns: `data` settings that must be found, by their names.
    """

    task: str
    rows: int
    text: str = ""
    label: str = ""
    source: str = ""
    target: str = ""
    sequence: str = ""
    said: tuple[str, ...] = ()
    """Facts that must be among the sentences the user reads first: a count, an encoding, a runner-up."""

    @property
    def columns(self) -> dict[str, str]:
        sides = {"source": self.source, "target": self.target} if self.source else {}
        return {"text": self.source or self.text, "label": self.label, "sequence": self.sequence, **sides}


Writer = Callable[[Path], Truth]


@dataclass(frozen=True)
class MessyFile:
    """A file name, what writes the file, and one line about it."""

    name: str
    write: Writer
    about: str


MESSY_FILES: list[MessyFile] = []


def messy(name: str) -> Callable[[Writer], Writer]:
    """Add a file to the list; the docstring says what is messy about it."""

    def add(write: Writer) -> Writer:
        MESSY_FILES.append(MessyFile(name, write, (write.__doc__ or "").strip()))
        return write

    return add
