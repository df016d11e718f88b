"""What a generated target is compared with: a source and all its references."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EvaluationItem:
    """A source with all targets that the data has for it."""

    where: str
    text: str
    language: str
    references: list[str]


def show_numbered(items: Sequence[EvaluationItem], numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
    """Where some items are in the data, and their sources."""
    chosen = {number: items[number] for number in sorted(numbers) if number < len(items)}
    return {number: (item.where, item.text) for number, item in chosen.items()}


def format_sample(source: str, output: str, reference: str) -> str:
    """A source with what the model generates for it, for the journal."""
    return f"{source}\n→ {output}\n(reference: {reference})"
