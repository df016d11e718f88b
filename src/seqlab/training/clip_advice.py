"""A clipping norm chosen from the gradient norms that were seen."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite

from seqlab.core.errors import UsageError

ENOUGH_NORMS = 20
"""Fewer say nothing about the norms of a longer training."""


@dataclass(frozen=True)
class ClipAdvice:
    """Gradient norms before clipping, and the limit they suggest."""

    num_norms: int
    average: float
    median: float
    percentiles: dict[int, float]
    """The norm below which 10, 50, 90 and 99% of the norms lie."""
    largest: float
    limit: float
    """The limit that was in force; 0 for none."""
    clipped_share: float
    """Share of norms that this limit shortened."""
    suggestion: float
    """The average norm, to two digits."""
    suggested_share: float
    """Share of norms that the suggestion would shorten."""

    def sentence(self) -> str:
        """The advice in one line.

        >>> suggest_clip([1.0, 2.0, 6.0] * 7, limit=5.0).sentence()
        'average gradient norm 3; clip_norm 5 clipped 33% of the steps in the journal; suggestion: clip_norm 3, which would clip 33%'
        """
        now = (
            f"clip_norm {self.limit:g} clipped {self.clipped_share:.0%} of the steps in the journal"
            if self.limit
            else "nothing was clipped"
        )
        seen = f"average gradient norm {self.average:.2g}; {now}"
        if self.num_norms < ENOUGH_NORMS:
            return seen
        return (
            f"{seen}; suggestion: clip_norm {self.suggestion:g}, which would clip {self.suggested_share:.0%}"
        )


def suggest_clip(norms: Iterable[float | None], *, limit: float = 0.0) -> ClipAdvice:
    """Look at the average norm of the gradient over many updates, and clip there. Norms that are not finite
    are left out.

    Paper: Pascanu et al. 2013, arXiv:1211.5063, section 3.2: half to ten times the average norm still
    converges.

    limit: the clipping norm that was in force when these were measured.
    """
    finite = sorted(float(norm) for norm in norms if norm is not None and isfinite(norm))
    if not finite:
        raise UsageError("there is no finite gradient norm to learn from.")
    average = statistics.fmean(finite)
    suggestion = float(f"{average:.2g}")
    return ClipAdvice(
        num_norms=len(finite),
        average=average,
        median=statistics.median(finite),
        percentiles={percent: _percentile(finite, percent) for percent in (10, 50, 90, 99)},
        largest=finite[-1],
        limit=limit,
        clipped_share=_share_above(finite, limit) if limit else 0.0,
        suggestion=suggestion,
        suggested_share=_share_above(finite, suggestion),
    )


def _share_above(norms: list[float], limit: float) -> float:
    return sum(norm > limit for norm in norms) / len(norms)


def _percentile(ordered: list[float], percent: int) -> float:
    """Between two neighbours on a straight line."""
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
