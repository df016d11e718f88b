"""Pronouncing dictionaries: a word and its phonemes per line, as in CMUdict. The columns are word and
phonemes.

    READ  R EH1 D
    READ(1)  R IY1 D

A word with several pronunciations has a line for each, further ones with a number in parentheses, which is
dropped. Lines that start with ;;; and what follows a # among the phonemes are comments.  Data:
http://www.speech.cs.cmu.edu/cgi-bin/cmudict
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from seqlab.core.errors import DataError, shortened
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import PairSource, Row
from seqlab.sources.files.compression import content_hash
from seqlab.sources.files.lines import Lines
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.settings import DataSettings

WORD, PHONEMES = "word", "phonemes"
VARIANT_NUMBER = re.compile(r"(?<=.)\(\d+\)$")
COMMENT = re.compile(r"\s#")
SKIP = (
    "Each line must be a word, whitespace, and its phonemes separated by spaces. To skip"
    " other lines, set data.bad_rows=skip."
)


@source_formats.register("pronunciations")
class Pronunciations(PairSource):
    """A row for each line; phonemes are separated by single spaces."""

    suffixes = (".dict",)

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.columns = [WORD, PHONEMES]
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self._usable_rows,
            most=self._settings.max_rows,
            where=self.name,
            otherwise="contains no words.",
            cure=SKIP,
        )

    def fingerprint(self) -> str:
        settings = self._settings
        return f"pronunciations:{content_hash(self.path)}:{settings.encoding}:{settings.bad_rows}:{settings.max_rows}"

    def _usable_rows(self, reading: Pass) -> Iterator[Row]:
        lines = Lines(self.path, encoding=self._settings.encoding, keep_bad=self.bad_rows.skip)
        for number, line in enumerate(lines, start=1):
            if lines.problem is not None:
                reading.reject(lines.problem)
                lines.problem = None
                continue
            word, *phonemes = COMMENT.split(line, maxsplit=1)[0].split() or [""]
            if word.startswith(";;;") or not word:
                continue
            if phonemes:
                yield Row(
                    {WORD: VARIANT_NUMBER.sub("", word), PHONEMES: " ".join(phonemes)}, self.name, number
                )
            else:
                reading.reject(
                    DataError(
                        f"{shortened(word)!r} has no phonemes.",
                        where=f"{self.name}, line {number}",
                        cure=SKIP,
                    )
                )
