"""Line-aligned files: line 7 of train.de is the translation of line 7 of train.en."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seqlab.core.errors import DataError, nearest
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import PairSource, Row, Source
from seqlab.sources.encoding import describe_encodings, detect_encoding
from seqlab.sources.files.compression import COMPRESSIONS, content_hash
from seqlab.sources.files.lines import Lines, line_blocks
from seqlab.sources.settings import DataSettings
from seqlab.sources.split_names import SPLITS

ENDINGS = ("", *COMPRESSIONS)
SKIP = "Fix the line, or skip such pairs with data.bad_rows=skip."


@dataclass(frozen=True)
class FilePair:
    """Two files and the common prefix of their names."""

    prefix: Path
    source: Path
    target: Path


class AlignedLines(PairSource):
    """Two files with the same number of lines; the columns are data.source and data.target.

    Only a newline ends a line, as in alignment tools; a carriage return inside a line counts as a
    space. A line that is empty in both files is skipped.
    """

    def __init__(self, pair: FilePair, settings: DataSettings) -> None:
        self.name = str(pair.prefix)
        self.paths = (pair.source, pair.target)
        self.columns = [settings.source, settings.target]
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        self._reject_unequal_counts()
        self.notes = describe_encodings(map(self._encoding, self.paths)) if not settings.encoding else ()

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self._pairs,
            most=self._settings.max_rows,
            where=self.name,
            otherwise="both files are empty.",
            cure="Each line of one file must be the translation of the same line of the other.",
        )

    def fingerprint(self) -> str:
        settings = self._settings
        hashes = ":".join(content_hash(path) for path in self.paths)
        return f"aligned:{hashes}:{settings.encoding}:{settings.bad_rows}:{settings.max_rows}"

    def _pairs(self, reading: Pass) -> Iterator[Row]:
        pairs = zip(*(self._lines(path) for path in self.paths), strict=True)
        for number, ((source, bad_source), (target, bad_target)) in enumerate(pairs, start=1):
            empty = [
                path for path, line in zip(self.paths, (source, target), strict=True) if not line.strip()
            ]
            if problem := bad_source or bad_target:
                reading.reject(problem)
            elif len(empty) == 1:
                other = self.paths[1] if empty[0] == self.paths[0] else self.paths[0]
                what = f"the line is empty, but line {number:,} of {other.name} is not."
                reading.reject(DataError(what, where=f"{empty[0]}, line {number}", cure=SKIP))
            elif not empty:
                yield Row(dict(zip(self.columns, (source, target), strict=True)), str(self.paths[0]), number)

    def _lines(self, path: Path) -> Iterator[tuple[str, DataError | None]]:
        """The lines of one file, each with its error, if any."""
        lines = Lines(path, encoding=self._encoding(path), keep_bad=self.bad_rows.skip)
        pieces, problem = list[str](), None
        for piece in lines:
            problem, lines.problem = problem or lines.problem, None
            pieces.append(piece)
            if piece.endswith("\n"):
                yield _joined(pieces), problem
                pieces, problem = [], None
        if pieces:
            yield _joined(pieces), problem

    def _encoding(self, path: Path) -> str:
        return self._settings.encoding or detect_encoding(path)

    def _reject_unequal_counts(self) -> None:
        first, second = (self._count(path) for path in self.paths)
        if first != second:
            first_path, second_path = self.paths
            raise DataError(
                f"{first_path.name} has {first:,} lines, {second_path.name} has {second:,}.",
                where=self.name,
                cure=(
                    "Line-aligned files must have the same number of lines: is one of them truncated, or is"
                    " an empty line missing?"
                ),
            )

    def _count(self, path: Path) -> int:
        count, last = 0, b"\n"
        for _, block in line_blocks(path, encoding=self._encoding(path)):
            count, last = count + block.count(b"\n"), block[-1:]
        return count + (last != b"\n")


def find_pair(path: Path, settings: DataSettings) -> FilePair | None:
    """The two files that a name refers to: PREFIX, or one of PREFIX.en and PREFIX.de; None if it refers
    to something else.
    """
    if not (settings.source and settings.target) or settings.format not in ("", "text"):
        return None
    prefix = _prefix(path, settings) if path.is_file() else path
    source, target = (prefix and _find(prefix, language) for language in (settings.source, settings.target))
    if prefix is None or not (source or target):
        return None
    if source is None or target is None:
        missing = f"{prefix.name}.{settings.target if target is None else settings.source}"
        there = source or target or prefix
        names = [entry.name for entry in prefix.parent.iterdir() if entry != there]
        raise DataError(
            f"no such file next to {there.name}.",
            where=str(prefix.parent / missing),
            cure=nearest(missing, names),
        )
    return FilePair(prefix, source, target)


def pairs_of_folder(folder: Path, settings: DataSettings) -> dict[str, Source]:
    """The splits of a folder by name, such as `train.en`, `train.de`, `valid.en` and `valid.de`; empty
    if there is no train.
    """
    sources: dict[str, Source] = {}
    for entry in sorted(folder.iterdir()) if settings.source and settings.target else []:
        stem = entry.name.partition(".")[0]
        part = SPLITS.get(stem.lower(), "")
        if part and part not in sources and entry.is_file() and (pair := find_pair(folder / stem, settings)):
            sources[part] = AlignedLines(pair, settings)
    return (
        {part: sources[part] for part in ("train", "valid", "test") if part in sources}
        if "train" in sources
        else {}
    )


def _find(prefix: Path, language: str) -> Path | None:
    names = (prefix.parent / f"{prefix.name}.{language}{ending}" for ending in ENDINGS)
    return next((path for path in names if path.is_file()), None)


def _prefix(path: Path, settings: DataSettings) -> Path | None:
    """The common prefix of both files, if a file is one of them."""
    plain = path.name.removesuffix(path.suffix) if path.suffix.lower() in COMPRESSIONS else path.name
    for language in (settings.source, settings.target):
        if plain.endswith(f".{language}"):
            return path.parent / plain.removesuffix(f".{language}")
    return None


def _joined(pieces: list[str]) -> str:
    return "".join(pieces).rstrip("\r\n").replace("\r", " ")
