"""Tables whose columns are separated by tabs."""

from __future__ import annotations

from seqlab.sources.formats.csv_table import CsvTable
from seqlab.sources.formats.registry import source_formats


@source_formats.register("tsv")
class TsvTable(CsvTable):
    """A table with a tab between the columns."""

    suffixes = (".tsv", ".tab")
    usual_delimiter = "\t"
