"""Suggest a clipping norm from the observed gradient norms."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite

from seqlab.core.errors import UsageError

ENOUGH_NORMS = 20
"""With fewer norms, no suggestion is made."""


@dataclass(frozen=True)
class ClipAdvice:
    """Statistics of gradient norms before clipping, and the clipping norm they suggest."""

    num_norms: int
    average: float
    median: float
    percentiles: dict[int, float]
    """The norm below which 10, 50, 90 and 99% of the norms lie."""
    largest: float
    limit: float
    """The clipping norm used; 0 for none."""
    clipped_share: float
    """Share of norms that were clipped."""
    suggestion: float
    """The average norm, rounded to two significant digits."""
    suggested_share: float
    """Share of norms that the suggestion would clip."""

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
    """Suggest the average gradient norm over many updates as the clipping norm. Norms that are not finite are
    ignored.

    Paper: Pascanu et al. 2013, arXiv:1211.5063, section 3.2: half to ten times the average norm still
    converges.

    limit: the clipping norm in use when the norms were measured.
    """
    finite = sorted(float(norm) for norm in norms if norm is not None and isfinite(norm))
    if not finite:
        raise UsageError("there are no finite gradient norms to base a suggestion on.")
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
    """Interpolate linearly between the two nearest values."""
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
