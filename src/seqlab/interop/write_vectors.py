"""Word vectors as lines of text, plain or compressed with gzip."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.tokens.word_vectors import WordVectors

WHITESPACE = re.compile(r"[\s\x00]")
DIGITS = 9
"""Number of significant digits that represent every float32 exactly."""


def write_word_vectors(table: WordVectors, path: Path, *, header: bool) -> None:
    """Write one line for each word, with an optional `header` line with the number of words and their width.

    NAME.gz is compressed.
    """
    if wrong := next((word for word in table.words if WHITESPACE.search(word) or not word), None):
        raise UsageError(
            f"the token {wrong!r} contains whitespace, but this format uses spaces as separators.",
            cure="Word vectors can be exported: train with tokens.kind=words or whitespace.",
        )
    lines = [f"{len(table)} {table.width}\n"] if header else []
    lines += [
        f"{word} {' '.join(f'{value:.{DIGITS}g}' for value in row)}\n"
        for word, row in zip(table.words, table.vectors.tolist(), strict=True)
    ]
    content = "".join(lines).encode("utf-8", "surrogatepass")
    write_whole(path, gzip.compress(content, mtime=0) if path.name.endswith(".gz") else content)
