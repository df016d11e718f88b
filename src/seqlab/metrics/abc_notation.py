"""Whether a text is a tune in ABC notation: are its headers complete, and do the notes of every bar fill the metre?

    X:1             number, always first
    T:A title
    M:6/8           metre: how long a bar is
    L:1/8           length of a note without a number
    K:D Major       key, always the last header
    A|dAF DFA|…     notes; 2 doubles a note, / halves it, (3abc plays three in the time of two, > lengthens one note and shortens the next

The bars at the beginning, at the end and beside a repeat or an ending may be shorter than the metre: an upbeat and the bar that it is taken from
share one. Source: the ABC music standard 2.1 (abcnotation.com), sections 3 and 4; the `!` at line ends is from older tunes.
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
"""The first or second time that a part is played; its number stands right after the bar line."""
LENGTH = r"(\d*)(/*)(\d*)"
PLAYED = re.compile(
    r"\((?P<tuplet>[2-9])(?::\d?)*"
    r"|(?P<broken>[<>]+)"
    rf"|(?:[_^=]{{0,2}}[A-Ga-g][,']*|[zxyZ]|\[(?P<chord>[^\]|\[]*[A-Ga-g][^\]|\[]*)\]){LENGTH}"
    r"|(?P<ignored>[\s\\()\-.~!HLMOPSTuv$*]|\[?[1-9]|\[[A-Za-z]:[^\]]*\])"
)
TUPLET_TIME = {2: 3, 3: 2, 4: 3, 6: 2, 8: 3}
"""So many notes are played in the time of how many; 5, 7 and 9 notes in that of 2, or of 3 where the metre counts in threes."""


@dataclass(frozen=True)
class TuneCheck:
    """What is wrong with a tune, in words, and how many of its bars fill the metre."""

    mistakes: tuple[str, ...]
    num_bars: int
    num_full: int

    @property
    def is_sound(self) -> bool:
        """Headers complete, every sign known, every bar full."""
        return not self.mistakes and 0 < self.num_bars == self.num_full


@dataclass(frozen=True)
class Bar:
    """The notes between two bar lines, as lengths in whole notes."""

    length: Fraction
    at_edge: bool
    """Whether it may be short: the first, the last, or one beside a repeat, a double line or a first or second ending."""


def split_tunes(text: str) -> list[str]:
    """The tunes of a file: each begins with its number.

    >>> split_tunes("some end\\nX:1\\nT:a\\n\\nX:2\\nT:b\\n")
    ['X:1\\nT:a', 'X:2\\nT:b']
    """
    return [tune.strip() for tune in re.split(r"^(?=X:)", text, flags=re.MULTILINE) if tune.startswith("X:")]


def check_tune(tune: str) -> TuneCheck:
    """
    >>> check_tune("X:1\\nT:Four\\nM:2/4\\nL:1/8\\nK:D\\nA2|d2 A2|d>e fA|(3ABc d2:|")
    TuneCheck(mistakes=(), num_bars=4, num_full=4)
    >>> check_tune("X:1\\nM:2/4\\nK:D\\nA2|d2 A2 f|d e|A4|]").mistakes
    ('no header T', 'no header L')
    """
    headers, body = _split(tune.splitlines())
    mistakes = [f"no header {name}" for name in "XTMLK" if name not in headers]
    if headers and next(iter(headers)) != "X":
        mistakes.append("the number X does not come first")
    metre, unit = _metre(headers.get("M", "")), _fraction(headers.get("L", ""))
    mistakes += ["unknown metre"] * (metre is None and "M" in headers) + ["unknown note length"] * (unit is None and "L" in headers)
    if not body.strip():
        mistakes.append("no notes")
    if metre is None or unit is None:
        return TuneCheck(tuple(mistakes), 0, 0)
    try:
        bars = list(_bars(body, unit, counts_threes=metre.denominator == 4 and metre.numerator % 3 == 0))
    except ValueError as error:
        return TuneCheck((*mistakes, str(error)), 0, 0)
    full = sum(bar.length == metre or (bar.at_edge and bar.length < metre) for bar in bars)
    return TuneCheck(tuple(mistakes), len(bars), full)


def share_of_sound_tunes(tunes: Iterable[str]) -> float:
    """How many of the tunes are sound; 0 for no tunes."""
    found = [check_tune(tune).is_sound for tune in tunes]
    return sum(found) / max(1, len(found))


def _split(lines: list[str]) -> tuple[dict[str, str], str]:
    """Headers up to the key, and the notes after it; headers among the notes are left out."""
    headers: dict[str, str] = {}
    for place, line in enumerate(lines):
        if found := HEADER.match(line):
            headers.setdefault(found[1], found[2])
        if "K" in headers:
            return headers, "\n".join(line for line in lines[place + 1 :] if not HEADER.match(line))
    return headers, ""


def _metre(written: str) -> Fraction | None:
    return Fraction(1) if written in ("C", "C|") else _fraction(written)


def _fraction(written: str) -> Fraction | None:
    found = re.fullmatch(r"(\d+)/(\d+)", written)
    return Fraction(int(found[1]), int(found[2])) if found and int(found[1]) and int(found[2]) else None


def _bars(body: str, unit: Fraction, *, counts_threes: bool) -> Iterator[Bar]:
    played = NOT_PLAYED.sub("", body)
    lines = list(BAR_LINE.finditer(played))
    starts, ends = [0, *(line.end() for line in lines)], [*(line.start() for line in lines), len(played)]
    is_plain = [False, *(line[0] == "|" and not ENDING.match(played, line.end()) for line in lines), False]
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        length = sum(_notes(played[start:end], counts_threes=counts_threes), Fraction(0)) * unit
        if length:
            yield Bar(length, at_edge=not (is_plain[place] and is_plain[place + 1]))


def _notes(bar: str, *, counts_threes: bool) -> list[Fraction]:
    """The lengths of the notes of a bar, in units."""
    lengths: list[Fraction] = []
    place, in_tuplet, factor, owed = 0, 0, Fraction(1), Fraction(1)
    while place < len(bar):
        found = PLAYED.match(bar, place)
        if not found:
            raise ValueError(f"{bar[place]!r} is no note")
        place = found.end()
        if found["tuplet"]:
            in_tuplet = int(found["tuplet"])
            factor = Fraction(TUPLET_TIME.get(in_tuplet, 3 if counts_threes else 2), in_tuplet)
        elif found["broken"]:
            short = Fraction(1, 2 ** len(found["broken"]))
            before, owed = (2 - short, short) if found["broken"][0] == ">" else (short, 2 - short)
            if lengths:
                lengths[-1] *= before
        elif not found["ignored"]:
            times, slashes, parts = found.group(4, 5, 6)
            length = Fraction(int(times or 1), int(parts) if parts else 2 ** len(slashes))
            lengths.append(length * owed * (factor if in_tuplet else 1))
            in_tuplet, owed = max(0, in_tuplet - 1), Fraction(1)
    return lengths
