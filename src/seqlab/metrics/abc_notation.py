"""Check whether a text is a valid tune in ABC notation: complete headers, and bars whose notes fill the
meter.

    X:1             number, always first
    T:A title
    M:6/8           meter: how long a bar is
    L:1/8           length of a note without a number
    K:D Major       key, always the last header
    A|dAF DFA|…     notes; 2 doubles a note, / halves it, (3abc plays three in the time of two, > lengthens one note and shortens the next

The bars at the beginning, at the end and next to a repeat or an ending may be shorter than the meter: an
upbeat and the bar that it is taken from share one. Source: the ABC music standard 2.1 (abcnotation.com),
sections 3 and 4; the `!` at line ends is from older tunes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

HEADER = re.compile(r"([A-Za-z]):\s*(.*?)\s*$")
BAR_LINE = re.compile(r":*\|+[\]:]*|\[\||::+")
NOT_PLAYED = re.compile(r'"[^"]*"|\{[^}]*\}|![a-zA-Z().<>+]{2,}!|\+[a-z]+\+|%.*')
ENDING = re.compile(r"[\s!]*\[?[1-9]")
"""First or second ending; its number follows the bar line."""
LENGTH = r"(\d*)(/*)(\d*)"
PLAYED = re.compile(
    r"\((?P<tuplet>[2-9])(?::\d?)*"
    r"|(?P<broken>[<>]+)"
    rf"|(?:[_^=]{{0,2}}[A-Ga-g][,']*|[zxyZ]|\[(?P<chord>[^\]|\[]*[A-Ga-g][^\]|\[]*)\]){LENGTH}"
    r"|(?P<ignored>[\s\\()\-.~!HLMOPSTuv$*]|\[?[1-9]|\[[A-Za-z]:[^\]]*\])"
)
TUPLET_TIME = {2: 3, 3: 2, 4: 3, 6: 2, 8: 3}
"""Tuplets: number of notes -> the number of notes whose time they take; 5, 7 and 9 notes take that of 2, or of 3 if the meter
counts in threes.
"""


@dataclass(frozen=True)
class TuneCheck:
    """The problems of a tune as text, and the number of its bars that fill the meter."""

    problems: tuple[str, ...]
    num_bars: int
    num_full_bars: int

    @property
    def is_valid(self) -> bool:
        """Whether headers are complete, all symbols are known, and every bar is full."""
        return not self.problems and 0 < self.num_bars == self.num_full_bars


@dataclass(frozen=True)
class Bar:
    """The notes between two bar lines, as lengths in whole notes."""

    length: Fraction
    may_be_short: bool
    """Whether it may be short: the first, the last, or one next to a repeat, a double line or a first or
    second ending.
    """


def split_tunes(text: str) -> list[str]:
    """The tunes of a file: each starts with its number.

    >>> split_tunes("some end\\nX:1\\nT:a\\n\\nX:2\\nT:b\\n")
    ['X:1\\nT:a', 'X:2\\nT:b']
    """
    return [tune.strip() for tune in re.split(r"^(?=X:)", text, flags=re.MULTILINE) if tune.startswith("X:")]


def check_tune(tune: str) -> TuneCheck:
    """
    >>> check_tune("X:1\\nT:Four\\nM:2/4\\nL:1/8\\nK:D\\nA2|d2 A2|d>e fA|(3ABc d2:|")
    TuneCheck(problems=(), num_bars=4, num_full_bars=4)
    >>> check_tune("X:1\\nM:2/4\\nK:D\\nA2|d2 A2 f|d e|A4|]").problems
    ('the header T is missing', 'the header L is missing')
    """
    headers, body = _split(tune.splitlines())
    problems = [f"the header {name} is missing" for name in "XTMLK" if name not in headers]
    if headers and next(iter(headers)) != "X":
        problems.append("the header X is not first")
    meter, unit = _parse_meter(headers.get("M", "")), _parse_fraction(headers.get("L", ""))
    problems += ["unknown meter"] * (meter is None and "M" in headers) + ["unknown note length"] * (
        unit is None and "L" in headers
    )
    if not body.strip():
        problems.append("no notes")
    if meter is None or unit is None:
        return TuneCheck(tuple(problems), 0, 0)
    try:
        bars = list(_bars(body, unit, is_compound=meter.denominator == 4 and meter.numerator % 3 == 0))
    except ValueError as error:
        return TuneCheck((*problems, str(error)), 0, 0)
    num_full = sum(bar.length == meter or (bar.may_be_short and bar.length < meter) for bar in bars)
    return TuneCheck(tuple(problems), len(bars), num_full)


def valid_tune_fraction(tunes: Iterable[str]) -> float:
    """The fraction of valid tunes; 0 for no tunes."""
    is_valid = [check_tune(tune).is_valid for tune in tunes]
    return sum(is_valid) / max(1, len(is_valid))


def _split(lines: list[str]) -> tuple[dict[str, str], str]:
    """The headers up to the key, and the notes after it; headers among the notes are skipped."""
    headers: dict[str, str] = {}
    for index, line in enumerate(lines):
        if match := HEADER.match(line):
            headers.setdefault(match[1], match[2])
        if "K" in headers:
            return headers, "\n".join(line for line in lines[index + 1 :] if not HEADER.match(line))
    return headers, ""


def _parse_meter(text: str) -> Fraction | None:
    return Fraction(1) if text in ("C", "C|") else _parse_fraction(text)


def _parse_fraction(text: str) -> Fraction | None:
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    return Fraction(int(match[1]), int(match[2])) if match and int(match[1]) and int(match[2]) else None


def _bars(body: str, unit: Fraction, *, is_compound: bool) -> Iterator[Bar]:
    played = NOT_PLAYED.sub("", body)
    lines = list(BAR_LINE.finditer(played))
    starts, ends = [0, *(line.end() for line in lines)], [*(line.start() for line in lines), len(played)]
    is_plain = [False, *(line[0] == "|" and not ENDING.match(played, line.end()) for line in lines), False]
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        length = sum(_notes(played[start:end], is_compound=is_compound), Fraction(0)) * unit
        if length:
            yield Bar(length, may_be_short=not (is_plain[index] and is_plain[index + 1]))


def _notes(bar: str, *, is_compound: bool) -> list[Fraction]:
    """The lengths of the notes of a bar, in units."""
    lengths: list[Fraction] = []
    position, in_tuplet, factor, next_factor = 0, 0, Fraction(1), Fraction(1)
    while position < len(bar):
        match = PLAYED.match(bar, position)
        if not match:
            raise ValueError(f"{bar[position]!r} is not a note")
        position = match.end()
        if match["tuplet"]:
            in_tuplet = int(match["tuplet"])
            factor = Fraction(TUPLET_TIME.get(in_tuplet, 3 if is_compound else 2), in_tuplet)
        elif match["broken"]:
            short = Fraction(1, 2 ** len(match["broken"]))
            before, next_factor = (2 - short, short) if match["broken"][0] == ">" else (short, 2 - short)
            if lengths:
                lengths[-1] *= before
        elif not match["ignored"]:
            numerator, slashes, denominator = match.group(4, 5, 6)
            length = Fraction(int(numerator or 1), int(denominator) if denominator else 2 ** len(slashes))
            lengths.append(length * next_factor * (factor if in_tuplet else 1))
            in_tuplet, next_factor = max(0, in_tuplet - 1), Fraction(1)
    return lengths
