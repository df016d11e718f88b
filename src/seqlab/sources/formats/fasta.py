"""FASTA: biological sequences, each after a header line that starts with >.

    >seq1 label=promoter organism=E. coli
    TTGACATATAAT
    GCGTACG
    >seq2 label=other

The columns are `id` (the first word), `text` (the letters of all lines, in capitals) and one for every
key=value of the first header. Headers without keys that all have as many parts, with | or spaces between them, give a
column for every further part: `label` if few values come back, `split` if they name splits, else `header_2` and so on.
Several files together are one source whose column `label` is the name of the
file, such as positive.fa and negative.fa.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows
from seqlab.sources.base import Row, Source
from seqlab.sources.files.compression import content_hash, plain_name
from seqlab.sources.files.lines import Lines
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.settings import DataSettings
from seqlab.sources.split_names import SPLITS

KEY = re.compile(r"(?:^|\s|\[)(\w+)=")
NO_LETTER = re.compile(r"[^A-Za-z*.-]")
"""The alphabet: letters (bases, amino acids and ambiguity codes), * for a stop, - and . for a
gap.
"""
ID, TEXT, LABEL = "id", "text", "label"
SEPARATOR = re.compile(r"\s*\|\s*|\s+")
SAMPLE = 200
FEWEST_HEADERS = 10
ROWS_PER_LABEL = 4
"""Minimum average number of sequences with the same value for a part of the headers to be a label."""


@source_formats.register("fasta")
class Fasta(Source):
    """The sequences of one file, or of several files with one class each."""

    suffixes = (
        ".fasta",
        ".fa",
        ".faa",
        ".fna",
        ".ffn",
    )

    def __init__(self, paths: Path | Sequence[Path], settings: DataSettings, *, name: str = "") -> None:
        self.paths = [paths] if isinstance(paths, Path) else list(paths)
        self.name = name or str(self.paths[0])
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        headers = [header for path in self.paths for header, *_ in islice(self._records(path), SAMPLE)]
        keys = [key for key in keys_of(headers[0] if headers else "") if key not in (ID, TEXT)]
        self._parts = () if keys else name_parts(headers)
        keys += [name for name in self._parts if name not in (ID, "")]
        label_column = [LABEL] if len(self.paths) > 1 and LABEL not in keys else []
        self.columns = [ID, TEXT, *label_column, *keys]
        self._label_is_file = bool(label_column)

    def rows(self) -> Iterator[Row]:
        yield from islice(self._usable_rows(), self._settings.max_rows or None)

    def fingerprint(self) -> str:
        digest = hashlib.blake2b(
            "".join(f"{path.name}{content_hash(path)}" for path in self.paths).encode(), digest_size=16
        )
        return f"fasta:{digest.hexdigest()}:{self._settings.encoding}:{self._settings.bad_rows}:{self._settings.max_rows}"

    def _usable_rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        num_rows = 0
        for path in self.paths:
            for header, letters, line, wrong in self._records(path):
                nothing = (
                    None
                    if letters
                    else DataError(
                        "this header is not followed by a sequence.",
                        where=f"{path}, line {line}",
                        cure=SKIP,
                    )
                )
                if problem := wrong or nothing:
                    reading.reject(problem)
                    continue
                num_rows += 1
                values = (
                    dict.fromkeys(self.columns, "")
                    | (parts_of_header(header, self._parts) if self._parts else keys_of(header))
                    | {
                        ID: (header.split() or [""])[0],
                        TEXT: letters.upper(),
                    }
                )
                yield Row(values | ({LABEL: class_of(path)} if self._label_is_file else {}), str(path), line)
        reading.require_rows(
            num_rows,
            where=self.name,
            otherwise="contains no sequences.",
            cure="Each sequence follows a header line that starts with >.",
        )

    def _records(self, path: Path) -> Iterator[tuple[str, str, int, DataError | None]]:
        """Header, sequence, line of the header, and the first error in the record."""
        lines = Lines(path, encoding=self._settings.encoding, keep_bad=self.bad_rows.skip)
        header, start, letters, problem = "", 0, list[str](), None
        for number, line in enumerate(lines, start=1):
            if lines.problem is not None:
                problem, lines.problem = problem or lines.problem, None
            elif line.startswith(">"):
                if start:
                    yield header, "".join(letters), start, problem
                header, start, letters, problem = line[1:].strip(), number, [], None
            elif line.startswith(";"):
                continue  # a comment
            elif not start and line.strip():
                raise DataError(
                    "found a sequence before the first header.",
                    where=f"{path}, line {number}",
                    cure="Each sequence must follow a header line that starts with >.",
                )
            else:
                plain = "".join(line.split())
                problem = problem or _wrong(plain, line, where=f"{path}, line {number}")
                letters.append(plain)
        if start:
            yield header, "".join(letters), start, problem


def name_parts(headers: Sequence[str]) -> tuple[str, ...]:
    """The columns of the parts of headers; empty if their number differs or no part but the first says anything.

    >>> name_parts(["P1|Nucleus|train", "P2|Membrane|test"] * 9), name_parts(["P1 alpha chain", "P2 beta"])
    (('id', 'label', 'split'), ())
    """
    rows = [SEPARATOR.split(header) for header in headers]
    if len(rows) < FEWEST_HEADERS or len({len(row) for row in rows}) != 1:
        return ()
    names = [ID]
    for number, cells in enumerate(list(zip(*rows, strict=True))[1:], start=2):
        values = set(cells)
        is_split = {value.lower() for value in values} <= SPLITS.keys()
        is_label = 1 < len(values) <= len(rows) / ROWS_PER_LABEL and LABEL not in names
        names.append("split" if is_split else LABEL if is_label else f"header_{number}")
    return tuple(names) if len(names) > 1 else ()


def parts_of_header(header: str, names: Sequence[str]) -> dict[str, str]:
    """The cells of a header by column; a header with fewer parts lacks the last ones."""
    return dict(zip(names, SEPARATOR.split(header), strict=False))


SKIP = "Fix the line, or skip the sequence with data.bad_rows=skip."


def keys_of(header: str) -> dict[str, str]:
    """
    >>> keys_of("sp|P69905|HBA OS=Homo sapiens OX=9606 [kind=globin]")
    {'OS': 'Homo sapiens', 'OX': '9606', 'kind': 'globin'}
    """
    places = list(KEY.finditer(header))
    ends = [*(place.start() for place in places[1:]), len(header)]
    return {
        place[1]: header[place.end() : end].strip().rstrip("]").strip()
        for place, end in zip(places, ends, strict=False)
    }


def class_of(path: Path) -> str:
    """The name of a file without its extensions."""
    return Path(plain_name(path)).stem


def _wrong(plain: str, line: str, *, where: str) -> DataError | None:
    match = NO_LETTER.search(plain)
    if match is None:
        return None
    return DataError(
        f"{match[0]!r} is not a valid sequence character.",
        where=f"{where}, column {line.index(match[0]) + 1}",
        cure=f"Bases and amino acids are letters; * is a stop, - and . are gaps. {SKIP}",
    )
