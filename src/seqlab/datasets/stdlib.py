"""The source of Python's standard library, as text for a language model of code.

The files are those of the running Python, so the text differs between Python versions. Tests, installed
packages, generated tables of encodings and files that are not UTF-8 are left out.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from seqlab.datasets.base import SEED, BuiltInDataset, datasets, shuffle_key, to_sources
from seqlab.sources.base import Source
from seqlab.sources.formats.text_file import TextFile
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out

MAX_CHARACTERS = 5_000_000  # total number of characters: minutes of training, not hours
SKIPPED = {
    "test",
    "tests",
    "idle_test",
    "site-packages",
    "dist-packages",
    "__pycache__",
    "encodings",
    "pydoc_data",
    "lib2to3",
}


@datasets.register("stdlib")
class Stdlib(BuiltInDataset):
    """Python code, about 5 million characters."""

    name = "stdlib"
    description = "The source of Python's standard library (differs between Python versions)."
    task = "language_model"
    settings = {"data.text": "text"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = TextFile(list(find_source_files()), DataSettings(), name="stdlib")
        return to_sources(hold_out(source, how="tail", valid_share=0.05, test_share=0.05, seed=SEED))


@cache
def find_source_files() -> tuple[Path, ...]:
    """Files shuffled by a hash of their names, up to LARGEST characters in total."""
    root = Path(sysconfig.get_paths()["stdlib"])
    chosen, total = [], 0
    for path in sorted(_candidates(root), key=lambda path: shuffle_key(path.relative_to(root).as_posix())):
        size = _count_characters(path)
        if size and total + size <= MAX_CHARACTERS:
            chosen.append(path)
            total += size
    return tuple(chosen)


def _candidates(root: Path) -> Iterator[Path]:
    for path in root.rglob("*.py"):
        folders = path.relative_to(root).parts[:-1]
        if not SKIPPED.intersection(folders) and not any(folder.startswith("config-") for folder in folders):
            yield path


def _count_characters(path: Path) -> int:
    """0 for a file that cannot be used."""
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return 0
    return 0 if "\0" in text else len(text)
