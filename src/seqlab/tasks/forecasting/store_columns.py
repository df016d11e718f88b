"""The columns of a store of series."""

from __future__ import annotations

INPUTS, TARGETS, TRUTH, TIMES = "inputs", "targets", "truth", "times"
"""Of every step: what the network reads besides the targets; targets, standardized and as they are; the time."""
MEAN, DEVIATION, NAIVE_ERROR, START, LINE = "mean", "deviation", "naive_error", "start", "line"
"""Of every series: the scale of the targets, their change within a season, the first step that may be forecast, where it
is in the file.
"""
