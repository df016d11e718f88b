"""What was decided for the user, once more at the end of a training, when its first lines have scrolled away."""

from __future__ import annotations

from collections.abc import Sequence


def summarize_guesses(reasons: Sequence[str]) -> str:
    """One line with the decision of each reason; the setting that changes it was shown with it before.

    >>> summarize_guesses(["label column 'stars' (5 distinct values); set data.label=NAME to change it", "a gru model"])
    "decided for you: label column 'stars' (5 distinct values); a gru model"
    """
    decisions = [reason.partition("; ")[0] for reason in reasons]
    return f"decided for you: {'; '.join(decisions)}"
