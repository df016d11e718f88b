"""Parquet tables, a batch of rows at a time (needs pyarrow)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from seqlab.core.errors import DataError
from seqlab.core.extras import require
from seqlab.sources.bad_rows import BadRows
from seqlab.sources.base import Row, Source
from seqlab.sources.files.compression import check_exists, compression, content_hash
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.settings import DataSettings

BATCH_ROWS = 1024


@source_formats.register("parquet")
class ParquetTable(Source):
    """A Parquet file. A row's line number is its position in the table, from 1."""

    suffixes = (".parquet",)

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        check_exists(path)
        if compression(path):
            raise DataError(
                "Parquet files inside an archive are not supported.",
                where=self.name,
                cure="Unpack it first; Parquet is already compressed.",
            )
        with self._open() as table:
            self.columns = list(table.schema_arrow.names)
            num_rows = table.metadata.num_rows
        if len(set(self.columns)) < len(self.columns):
            raise DataError("two columns have the same name.", where=self.name, cure="Rename one of them.")
        if not num_rows:
            raise DataError("the table has no rows.", where=self.name, cure="Is this the right file?")

    def rows(self) -> Iterator[Row]:
        yield from islice(self._all_rows(), self._settings.max_rows or None)

    def fingerprint(self) -> str:
        return f"parquet:{content_hash(self.path)}:{self._settings.max_rows}"

    def _all_rows(self) -> Iterator[Row]:
        arrow = require("pyarrow", extra="data", purpose="Reading Parquet")
        number = 0
        with self._open() as table:
            try:
                for batch in table.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
                    for values in batch.to_pylist():
                        number += 1
                        yield Row(values, self.name, number)
            except (arrow.ArrowException, OSError) as error:
                raise self._damaged(error, after=number) from error

    def _open(self) -> Any:
        parquet = require("pyarrow.parquet", extra="data", purpose="Reading Parquet", package="pyarrow")
        arrow = require("pyarrow", extra="data", purpose="Reading Parquet")
        try:
            return parquet.ParquetFile(self.path)
        except (arrow.ArrowException, OSError) as error:
            raise self._damaged(error, after=0) from error

    def _damaged(self, error: Exception, *, after: int) -> DataError:
        where = f"{self.name}, after row {after}" if after else self.name
        return DataError(
            f"is not a valid Parquet file ({str(error).splitlines()[0][:120]}).",
            where=where,
            cure="Download or write it again.",
        )
