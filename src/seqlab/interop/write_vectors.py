"""Word vectors as lines of text, plain or packed with gzip."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.tokens.word_vectors import WordVectors

WHITESPACE = re.compile(r"[\s\x00]")
DIGITS = 9
"""So many significant digits bring every float32 back exactly."""


def write_word_vectors(table: WordVectors, path: Path, *, header: bool) -> None:
    """Write one line for each word, with an optional `header` line with the number of words and their width.

    NAME.gz is compressed.
    """
    if wrong := next((word for word in table.words if WHITESPACE.search(word) or not word), None):
        raise UsageError(
            f"the token {wrong!r} contains whitespace, and this format separates by spaces.",
            cure="Vectors of words can be written: train with tokens.kind=words or whitespace.",
        )
    lines = [f"{len(table)} {table.width}\n"] if header else []
    lines += [
        f"{word} {' '.join(f'{value:.{DIGITS}g}' for value in row)}\n"
        for word, row in zip(table.words, table.vectors.tolist(), strict=True)
    ]
    content = "".join(lines).encode("utf-8", "surrogatepass")
    write_whole(path, gzip.compress(content, mtime=0) if path.name.endswith(".gz") else content)
