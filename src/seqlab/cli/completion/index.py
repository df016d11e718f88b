"""What can be completed, kept in a small file.

Collecting it reads every settings class, which is too slow for a key press; reading the file takes a millisecond.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from seqlab.core.cache import cache_folder
from seqlab.core.errors import SeqlabError
from seqlab.core.files import write_whole

PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True)
class SettingEntry:
    """A setting as completion needs it."""

    help: str
    default: str
    """As one would type it; empty for no text and for an empty list."""
    values: list[str] = field(default_factory=list)
    """What it chooses among; empty where it takes any number or text."""
    is_list: bool = False


@dataclass(frozen=True)
class CompletionIndex:
    """Every name that can be completed, with a sentence each."""

    settings: dict[str, SettingEntry]
    names: dict[str, dict[str, str]]
    """By kind (`models`, `tasks`, …), as in `seqlab list`."""
    topics: dict[str, str]
    """What `seqlab explain` knows."""


def load_index() -> CompletionIndex:
    """The index, from its file if that is as new as the code."""
    path, stamp = _file(), _stamp()
    with suppress(OSError, ValueError, LookupError, TypeError):  # missing, damaged or of another version
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept.pop("stamp") == stamp:
            settings = {name: SettingEntry(**entry) for name, entry in kept.pop("settings").items()}
            return CompletionIndex(settings, **kept)
    from seqlab.cli.completion.collect import collect_index

    index = collect_index()
    with suppress(OSError, SeqlabError):  # a full or read-only disk only makes the next answer slow, too
        write_whole(path, json.dumps({"stamp": stamp, **asdict(index)}))
    return index


def _file() -> Path:
    """One file for each installation of seqlab."""
    place = hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:8]
    return cache_folder() / f"completion-{place}.json"


def _stamp() -> list[int]:
    """Changes when code of seqlab changes, and when a package, maybe a plug-in, is installed or removed."""
    sources = [
        os.stat(f"{folder}/{name}").st_mtime_ns  # noqa: PTH116 - much faster than a Path for each of 700 files
        for folder, _, names in os.walk(PACKAGE)
        for name in names
        if name.endswith((".py", ".toml"))
    ]
    packages = [Path(place) for place in sys.path if place.endswith(("site-packages", "dist-packages"))]
    return [len(sources), max(sources), *(place.stat().st_mtime_ns for place in packages if place.is_dir())]
