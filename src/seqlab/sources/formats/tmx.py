"""Translation memories in TMX: units with the same segment in several languages. The columns are the
languages.

    <tu> <tuv xml:lang="en-US"> <seg>Save <bpt i="1">&lt;b></bpt>all<ept i="1">&lt;/b></ept></seg> </tuv> <tuv xml:lang="de"> … </tuv> </tu>

Inline codes of other formats in a segment (bpt, ept, it, ph, ut) are dropped. The file is streamed;
custom entities, which can expand a small file into a huge one, are rejected, and nothing is ever fetched.
Format: TMX 1.4b, https://www.gala-global.org/tmx-14b
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from seqlab.core.errors import DataError, listed, shortened
from seqlab.core.files import megabytes
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import PairSource, Row
from seqlab.sources.files.compression import content_hash, read_blocks
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.settings import DataSettings

CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})
PEEK = 1000
"""Number of units read to find the languages; more are read until all requested languages occur."""
DEEPEST = 100
"""Maximum nesting depth; a segment is at depth five."""
LONGEST = 1_000_000
"""Maximum number of characters of a segment."""
MOST_LANGUAGES = 1000
"""Maximum number of languages if no two are requested."""
MOST_WAITING = 50_000_000
"""Maximum size of a markup tag in bytes."""


class TranslationUnit(NamedTuple):
    """The segments by language code, as written in the file, and the line on which the unit starts."""

    line: int
    segments: dict[str, str]
    problem: str


@source_formats.register("tmx")
class Tmx(PairSource):
    """A language named `en` is also found as `en-US`. Units without one of the requested languages are
    skipped.

    The columns are the requested languages, then the others, with that of the header (srclang) before the
    rest.
    """

    suffixes = (".tmx",)

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.bad_rows = BadRows(skip=settings.bad_rows == "skip")
        self._settings = settings
        asked, reader = [name for name in (settings.source, settings.target) if name], _Reader(self.name)
        languages: dict[str, None] = {}
        for number, unit in enumerate(self._units(reader), start=1):
            languages |= dict.fromkeys(unit.segments)
            is_enough = number >= PEEK or len(languages) > MOST_LANGUAGES
            if is_enough and all(_is_among(languages, name) for name in asked):
                break
        if not languages:
            raise DataError(
                "contains no translation units.",
                where=self.name,
                cure="A unit is a <tu> with one <tuv xml:lang=…><seg>…</seg></tuv> per language.",
            )
        matching = [name for name in asked if _is_among(languages, name)]
        self.columns = matching + self._other_columns(languages, matching, reader.source_language)
        self._required = matching or self.columns

    def _other_columns(
        self, languages: Collection[str], matching: Sequence[str], source_language: str
    ) -> list[str]:
        """Languages that were not requested; none if there are very many, since every row would have a cell for each."""
        others = [
            language
            for language in languages
            if not any(matches_language(language, name) for name in matching)
        ]
        if len(languages) <= MOST_LANGUAGES:
            return sorted(others, key=lambda language: not _are_kin(language, source_language))
        if len(matching) < 2:
            raise DataError(
                f"contains more than {MOST_LANGUAGES:,} languages.",
                where=self.name,
                cure="Choose two: data.source=CODE data.target=CODE",
            )
        return []

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self._usable_rows,
            most=self._settings.max_rows,
            where=self.name,
            otherwise=f"no unit contains all of {listed(self._required)}.",
            cure=f"The file contains {listed(self.columns)}; choose two with data.source and data.target.",
        )

    def fingerprint(self) -> str:
        return f"tmx:{content_hash(self.path)}:{self._settings.bad_rows}:{self._settings.max_rows}:{self.columns}"

    def _usable_rows(self, reading: Pass) -> Iterator[Row]:
        for unit in self._units(_Reader(self.name)):
            values = {column: segment_of(unit, column) for column in self.columns}
            where = f"{self.name}, line {unit.line}"
            if any(values[name] is None for name in self._required):
                continue
            empty = [name for name in self._required if not (values[name] or "").strip()]
            if unit.problem:
                reading.reject(DataError(unit.problem, where=where, cure=SKIP))
            elif empty and len(empty) < len(self._required):
                reading.reject(DataError(f"the segment in '{empty[0]}' is empty.", where=where, cure=SKIP))
            elif not empty:
                yield Row({name: value or "" for name, value in values.items()}, self.name, unit.line)

    def _units(self, reader: _Reader) -> Iterator[TranslationUnit]:
        fed = 0
        for block in read_blocks(self.path):
            reader.feed(block)
            fed += len(block)
            yield from reader.taken()
            if fed - max(reader.place, 0) > MOST_WAITING:
                raise DataError(
                    f"an XML tag is longer than {megabytes(MOST_WAITING)}.",
                    where=f"{self.name}, line {reader.line}",
                    cure="Is this a TMX file?",
                )
        reader.feed(b"", is_last=True)
        yield from reader.taken()


SKIP = "Fix the unit, or skip it with data.bad_rows=skip."


def matches_language(language: str, other: str) -> bool:
    """Whether a language of the file is the requested one, or a regional variant of it.

    >>> matches_language("en-US", "en"), matches_language("EN", "en"), matches_language("en", "en-US"), matches_language("eng", "en")
    (True, True, False, False)
    """
    code, name = (tag.lower().replace("_", "-") for tag in (language, other))
    return code == name or code.startswith(f"{name}-")


def _are_kin(language: str, other: str) -> bool:
    return matches_language(language, other) or matches_language(other, language)


def _is_among(languages: Iterable[str], name: str) -> bool:
    return any(matches_language(language, name) for language in languages)


def segment_of(unit: TranslationUnit, column: str) -> str | None:
    """The segment with exactly this code, else with the first variant of the language."""
    exact = unit.segments.get(column)
    return (
        exact
        if exact is not None
        else next(
            (text for language, text in unit.segments.items() if matches_language(language, column)), None
        )
    )


class _Reader:
    """Streams XML events -> complete units."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.source_language = ""
        """The source language declared in the header."""
        self._open: list[str] = []
        self._units: list[TranslationUnit] = []
        self._segments: dict[str, str] = {}
        self._problem = ""
        self._start = 0
        self._language = ""
        self._text: list[str] = []
        self._size = 0
        parser = self._parser = expat.ParserCreate()
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._read
        parser.EntityDeclHandler = self._reject_entity
        parser.SkippedEntityHandler = self._note_unknown

    @property
    def line(self) -> int:
        return self._parser.CurrentLineNumber

    @property
    def place(self) -> int:
        """Number of bytes parsed so far."""
        return self._parser.CurrentByteIndex

    def feed(self, block: bytes, *, is_last: bool = False) -> None:
        try:
            self._parser.Parse(block, is_last)
        except expat.ExpatError as error:
            where = f"{self._name}, line {error.lineno}, column {error.offset + 1}"
            raise DataError(
                f"invalid XML ({expat.ErrorString(error.code)}).",
                where=where,
                cure="Export or download the file again.",
            ) from error
        except (LookupError, ValueError) as error:
            raise DataError(
                f"the encoding is not supported ({error}).",
                where=self._name,
                cure="Save it as UTF-8, and declare that in its first line.",
            ) from error

    def taken(self) -> Sequence[TranslationUnit]:
        units, self._units = self._units, []
        return units

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if not self._open and name != "tmx":
            raise DataError(
                f"is not a TMX file: the root element is <{shortened(name)}>, not <tmx>.",
                where=self._name,
                cure="Pass a TMX file.",
            )
        self._open.append(name)
        if len(self._open) > DEEPEST:
            raise DataError(
                f"tags are nested more than {DEEPEST} levels deep.",
                where=f"{self._name}, line {self.line}",
                cure="Is this a TMX file?",
            )
        if name == "header":
            self.source_language = attributes.get("srclang", "")
        elif name == "tu":
            self._start, self._segments, self._problem = self.line, {}, ""
        elif name == "tuv":
            self._language = attributes.get("xml:lang") or attributes.get("lang") or ""
            self._text, self._size = [], 0
            if not self._language:
                self._problem = "a <tuv> does not declare its language (xml:lang)."

    def _end(self, name: str) -> None:
        self._open.pop()
        if name == "seg" and self._language and "tu" in self._open:
            self._segments.setdefault(self._language, " ".join("".join(self._text).split()))
        elif name == "tu":
            self._units.append(TranslationUnit(self._start, self._segments, self._problem))

    def _read(self, text: str) -> None:
        if "seg" not in self._open or not CODES.isdisjoint(self._open):
            return
        self._size += len(text)
        if self._size > LONGEST:
            self._problem = f"a segment is longer than {LONGEST:,} characters."
        else:
            self._text.append(text)

    def _reject_entity(self, name: str, *_: object) -> None:
        raise DataError(
            f"declares its own entity ('{shortened(name)}'); entities can expand a small file into a"
            " huge one.",
            where=f"{self._name}, line {self.line}",
            cure="Export it without entity declarations, or write the characters themselves.",
        )

    def _note_unknown(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._problem = f"unknown entity '&{shortened(name)};'."
