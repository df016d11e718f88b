"""The embedding of a run as a file of word vectors."""

from __future__ import annotations

import shlex
from pathlib import Path

from seqlab.inspection.embedding_table import read_embedding_table
from seqlab.interop.export_run import ExportResult
from seqlab.interop.write_vectors import write_word_vectors
from seqlab.runs.run import Run


def export_embedding(run: Run, path: Path, *, header: bool) -> ExportResult:
    """Every token except padding, whose row is zero and has no direction."""
    table = read_embedding_table(run)
    write_word_vectors(table, path, header=header)
    name = shlex.quote(str(path))
    example = next((word for word in table.words if len(word) > 3 and word.isalpha()), table.words[-1])
    return ExportResult(
        path,
        f"{len(table):,} vectors of dimension {table.width}",
        {"words": len(table), "width": table.width},
        [f"seqlab words {name} {shlex.quote(example)}", f"seqlab train FILE start.vectors={name}"],
    )
