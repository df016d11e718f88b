"""The task and the columns that are guessed for a source."""

from __future__ import annotations

from dataclasses import dataclass

from seqlab.sources.base import Source
from seqlab.sources.settings import DataSettings
from seqlab.tasks.guess import guess_task


@dataclass(frozen=True)
class Guessed:
    task: str
    text: str
    label: str
    sequence: str
    features: tuple[str, ...]
    reasons: list[str]


def guess(source: Source, *, settings: DataSettings | None = None) -> Guessed:
    given = settings or DataSettings()
    chosen = guess_task(source, given)
    data, reasons = chosen.spec.find_columns(source, given)
    return Guessed(
        chosen.spec.name, data.text, data.label, data.sequence, data.features, [*reasons, *chosen.reasons]
    )
