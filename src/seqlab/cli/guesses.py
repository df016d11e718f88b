"""Repeats the inferred settings at the end of training, when the first lines have scrolled away."""

from __future__ import annotations

from collections.abc import Sequence


def summarize_guesses(reasons: Sequence[str]) -> str:
    """One line with every decision; the setting that changes each was shown before training.

    >>> summarize_guesses(["label column 'stars' (5 distinct values); set data.label=NAME to change it", "a gru model"])
    "inferred: label column 'stars' (5 distinct values); a gru model"
    """
    decisions = [reason.partition("; ")[0] for reason in reasons]
    return f"inferred: {'; '.join(decisions)}"
