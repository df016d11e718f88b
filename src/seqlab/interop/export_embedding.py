"""The embedding of a run as a file of word vectors."""

from __future__ import annotations

import shlex
from pathlib import Path

from seqlab.inspection.embedding_table import embedding_of
from seqlab.interop.export_run import Exported
from seqlab.interop.write_vectors import write_word_vectors
from seqlab.runs.run import Run


def export_table(run: Run, path: Path, *, header: bool) -> Exported:
    """Every token but padding, whose row is zero and points nowhere."""
    table = embedding_of(run)
    write_word_vectors(table, path, header=header)
    name = shlex.quote(str(path))
    some = next((word for word in table.words if len(word) > 3 and word.isalpha()), table.words[-1])
    return Exported(
        path,
        f"{len(table):,} vectors of {table.width} numbers",
        {"words": len(table), "width": table.width},
        [f"seqlab words {name} {shlex.quote(some)}", f"seqlab train FILE start.vectors={name}"],
    )
