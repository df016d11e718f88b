"""What deserves to be said about the times of a table."""

from __future__ import annotations

from seqlab.sources.frequency import StepCounts
from seqlab.sources.views.series_blocks import BlockFacts


def describe_times(facts: BlockFacts, steps: StepCounts) -> list[str]:
    """One sentence each for repeated rows, gaps, irregular steps and empty series."""
    usual = f"(usual step: {steps.frequency.name})"
    return [
        *_counted(
            facts.num_repeated,
            "row repeats the time and the values of another one and is dropped",
            "rows repeat the time and the values of another one and are dropped",
        ),
        *_counted(steps.num_missing, f"time has no row {usual}", f"times have no row {usual}"),
        *_counted(
            steps.num_irregular,
            f"step is no multiple of the usual one {usual}; its row moves to the nearest time",
            f"steps are no multiples of the usual one {usual}; their rows move to the nearest time",
        ),
        *_counted(
            facts.num_empty,
            f"series has no value to forecast and is left out: '{facts.first_empty}'",
            f"series have no value to forecast and are left out, such as '{facts.first_empty}'",
        ),
    ]


def _counted(number: int, singular: str, plural: str) -> list[str]:
    return [f"{number:,} {singular if number == 1 else plural}"] if number else []
