"""One update on one line: the most important parts that fit."""

from __future__ import annotations

from seqlab.cli.meter import ProgressNumbers
from seqlab.cli.units import memory_text, rate_text, value_text
from seqlab.pages.numbers import format_duration

GAP = "  "
KEPT = (0, 1, 4, 2, 3, 5)
"""Indices of the parts by importance: progress, loss, time left, metric, rate, memory."""


def status_line(reading: ProgressNumbers, *, width: int) -> str:
    """`120/9,000  loss 0.4322  valid_accuracy 0.8123  312 seq/s  3 min 12 s left  412 MB`, or the parts of
    it that fit.
    """
    parts = status_parts(reading)
    for count in range(len(KEPT), 0, -1):
        line = GAP.join(parts[place] for place in sorted(KEPT[:count]) if parts[place])
        if len(line) <= width:
            return line
    return parts[0][:width]


def status_parts(reading: ProgressNumbers) -> list[str]:
    report = reading.report
    metric = f"{reading.metric[0]} {value_text(reading.metric[1])}" if reading.metric else ""
    return [
        f"{report.step:,}/{report.total_steps:,}",
        f"loss {value_text(reading.loss)}",
        metric,
        _rate(reading),
        f"{format_duration(report.seconds_left)} left",
        memory_text(reading.memory) if reading.memory else "",
    ]


def _rate(reading: ProgressNumbers) -> str:
    if reading.sequences_per_second:
        return rate_text(reading.sequences_per_second, "seq")
    if reading.tokens_per_second:
        return rate_text(reading.tokens_per_second, "tok")
    return rate_text(reading.steps_per_second, "steps") if reading.steps_per_second else ""
