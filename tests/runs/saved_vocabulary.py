"""The ids of a run's tokens, read from its files as anybody could."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path


def token_ids(tokens_folder: Path, pieces: Sequence[str]) -> list[int]:
    """Special tokens come first, then the pieces in the order of the file."""
    saved = json.loads((tokens_folder / "vocabulary.json").read_text(encoding="utf-8"))
    vocabulary = [*saved["specials"], *saved["pieces"]]
    return [vocabulary.index(piece) for piece in pieces]
