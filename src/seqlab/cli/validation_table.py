"""A table with one row per validation: epoch, step, then training and validation losses and accuracies."""

from __future__ import annotations

from collections.abc import Mapping

from seqlab.cli.units import value_text
from seqlab.training.base import Validation

FIRST = ("train_loss", "valid_loss", "train_accuracy", "valid_accuracy")
"""The first columns, in order; others follow if the terminal is wide enough."""
GAP, BEST = "  ", "best"


class ValidationTable:
    """Rows with fixed columns below one header."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._columns: list[str] = []

    def lines(self, step: int, epoch: int, validation: Validation, *, is_best: bool) -> list[str]:
        """The row, preceded by the header if it is the first."""
        facts = numbers_of(validation)
        header = []
        if not self._columns:
            self._columns = self._fitting(facts)
            header = [self._line("epoch", "step", dict(zip(self._columns, self._columns, strict=True)))]
        values = {name: value_text(facts[name]) for name in self._columns if name in facts}
        row = self._line(f"{epoch:,}", f"{step:,}", values)
        return [*header, f"{row}{GAP}{BEST}" if is_best else row]

    def _line(self, epoch: str, step: str, values: Mapping[str, str]) -> str:
        cells = [f"{values.get(name, ''):>{len(name)}}" for name in self._columns]
        return GAP.join([f"{epoch:>5}", f"{step:>7}", *cells])

    def _fitting(self, facts: Mapping[str, float]) -> list[str]:
        columns: list[str] = []
        used = 5 + len(GAP) + 7 + len(GAP) + len(BEST)
        for name in [*FIRST, *(name for name in facts if name not in FIRST)]:
            if name in facts and used + len(GAP) + len(name) <= self._width:
                columns.append(name)
                used += len(GAP) + len(name)
        return columns


def numbers_of(validation: Validation) -> dict[str, float]:
    """The facts of a validation that are numbers; training accuracy only next to validation accuracy."""
    facts = {name: value for name, value in validation.facts.items() if isinstance(value, float)}
    if "valid_accuracy" not in facts:
        facts.pop("train_accuracy", None)
    return facts
