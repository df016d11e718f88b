"""Word vectors as GloVe writes them: a word and its numbers in each line, and no header."""

from __future__ import annotations

from pathlib import Path

from seqlab.interop.export_embedding import export_embedding
from seqlab.interop.export_run import Exporter, ExportResult, exporters
from seqlab.runs.run import Run


@exporters.register("glove")
class GloVe(Exporter):
    """For programs that read the published GloVe files. Paper: Pennington, Socher, Manning 2014, EMNLP."""

    suffix = ".glove.txt"

    def write(self, run: Run, path: Path) -> ExportResult:
        return export_embedding(run, path, header=False)
