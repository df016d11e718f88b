"""Breaks an equation that is too long for the terminal where a textbook would: before a remark, or before an operator
outside all brackets.
"""

from __future__ import annotations

import re
import textwrap
from itertools import accumulate

GAP = re.compile(r" {3,}(?! |=|<-|->|\+|-)")
"""Space in front of a remark or another equation, unlike that which aligns operators."""
FORMULA = re.compile(r"[=,+·/]|<-|->")
RIGHT_SIDE = re.compile(r"(?:=|<-|->) +")
EQUATION = re.compile(r"[^:]*( = | <- | -> )(?!.*: )")
"""Unlike a remark, which is prose or explains its symbols behind colons."""
TERM = re.compile(r" (?=[+-] )")
FACTOR = re.compile(r" (?=· )")
INDENT = 4


def wrap_equation(line: str, width: int) -> list[str]:
    """
    >>> print("\\n".join(wrap_equation("w <- w - lr · decay · w - lr · m / (√v + ε)     where t > 5", 36)))
    w <- w - lr · decay · w
         - lr · m / (√v + ε)
         where t > 5
    >>> print("\\n".join(wrap_equation("x + P,      P[i, 2j] = sin(i),      P[i, 2j+1] = cos(i)", 30)))
    x + P,
        P[i, 2j] = sin(i),
        P[i, 2j+1] = cos(i)
    """
    if len(line) <= width:
        return [line]
    first, *others = _parted(line)
    right = RIGHT_SIDE.search(first)
    indent = min(right.end() if right else INDENT, width // 2)
    lines = _broken(first, width, indent)
    for part in others:
        lines += [indent * " " + piece for piece in _broken(part, width - indent, INDENT)]
    return lines


def _parted(line: str) -> list[str]:
    """The formula and what follows it in a column of its own."""
    gaps = [gap for gap in GAP.finditer(line) if FORMULA.search(line[: gap.start()])]
    ends = [*(gap.start() for gap in gaps), len(line)]
    starts = [0, *(gap.end() for gap in gaps)]
    return [line[start:end] for start, end in zip(starts, ends, strict=True)]


def _broken(part: str, width: int, indent: int) -> list[str]:
    """Lines that fit if the part has a place to break; a remark is broken between words."""
    lines = [part]
    if not EQUATION.match(part):
        return textwrap.wrap(
            part, width, subsequent_indent=indent * " ", break_long_words=False, break_on_hyphens=False
        )
    while len(lines[-1]) > width and (place := _last_place(lines[-1], width, indent)):
        lines[-1:] = [lines[-1][:place], indent * " " + lines[-1][place:].lstrip()]
    return lines


def _last_place(line: str, width: int, indent: int) -> int:
    """The last place before the width where a term starts, or else a factor; 0 if there is none."""
    depths = [*accumulate({"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(sign, 0) for sign in line)]
    for operator in (TERM, FACTOR):
        places = [match.start() for match in operator.finditer(line) if indent < match.start() <= width]
        if outside := [place for place in places if depths[place] == 0]:
            return outside[-1]
    return 0
