"""Compares what a case gives today with what was written down, and writes it down."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CURVES = Path(__file__).parent / "curves"
RELATIVE, ABSOLUTE = 1e-5, 1e-7
DIGITS = 9


def differences(recorded: Any, found: Any, *, where: str = "") -> Iterator[str]:
    """A line for each place where two observations differ: numbers beyond the tolerance, everything else at
    all.
    """
    if isinstance(recorded, dict) and isinstance(found, dict):
        for name in [*recorded, *(name for name in found if name not in recorded)]:
            place = f"{where}.{name}" if where else str(name)
            if name not in found or name not in recorded:
                yield f"{place}: {'no longer there' if name in recorded else 'not recorded'}"
            else:
                yield from differences(recorded[name], found[name], where=place)
    elif isinstance(recorded, list) and isinstance(found, list):
        if len(recorded) != len(found):
            yield f"{where}: {len(recorded)} entries recorded, {len(found)} found"
        for place, (old, new) in enumerate(zip(recorded, found, strict=False)):
            yield from differences(old, new, where=f"{where}[{place}]")
    elif not _agree(recorded, found):
        yield f"{where}: recorded {recorded!r}, found {found!r}"


def _agree(recorded: Any, found: Any) -> bool:
    if _is_number(recorded) and _is_number(found):
        return math.isclose(recorded, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(recorded) is type(found) and recorded == found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def path_of(name: str) -> Path:
    return CURVES / f"{name}.json"


def read(name: str) -> Any:
    return json.loads(path_of(name).read_text(encoding="utf-8"))


def write(name: str, found: dict[str, Any]) -> None:
    """One line for each part, numbers with nine digits: short, and easy to compare by eye."""
    lines = (
        f" {json.dumps(part)}: {json.dumps(shortened(value), ensure_ascii=False)}"
        for part, value in found.items()
    )
    path_of(name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def shortened(value: Any) -> Any:
    """The same with numbers of nine significant digits."""
    if isinstance(value, dict):
        return {name: shortened(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
