"""Word vectors as word2vec writes them: a line `words width`, then a word and its numbers in each line."""

from __future__ import annotations

from pathlib import Path

from seqlab.interop.export_embedding import export_embedding
from seqlab.interop.export_run import Exporter, ExportResult, exporters
from seqlab.runs.run import Run


@exporters.register("word2vec")
class Word2Vec(Exporter):
    """For gensim (KeyedVectors.load_word2vec_format), fastText, Magnitude and most others.

    Paper: Mikolov et al. 2013, arXiv:1301.3781.
    """

    suffix = ".vec"

    def write(self, run: Run, path: Path) -> ExportResult:
        return export_embedding(run, path, header=True)
