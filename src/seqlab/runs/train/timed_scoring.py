"""Choose how many held-out rows to score in the remaining time: all of them if possible."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import perf_counter

from seqlab.pages.numbers import budget_of
from seqlab.runs.train.held_out_sample import describe_part, draw, unit_of
from seqlab.runs.train.plan import scored_sizes
from seqlab.runs.train.prepare import Prepared
from seqlab.runs.train.scoring_forecast import MARGIN, ScoringForecast
from seqlab.tasks.split import Split

FEWEST = {"rows": 20, "characters": 4_000}
"""Minimum to score; a budget that does not allow this is exceeded."""
SLACK = 0.05
"""Scoring may exceed the budget by this share, and gets this much if no time is left."""
SHARE_FOR_TEST = 0.7
"""Share of the time for the test split if not all rows can be scored; validation rows were scored during
training.
"""
LEAST_FACTOR, MOST_FACTOR = 0.3, 10.0
"""Limits for correcting the forecast of the next split by the time that one split took."""


class TimedScoring:
    """Chooses what to score split by split, so that the time of the first corrects the forecast for the
    second. `limits` has a sentence for each split of which only a sample is scored, `parts` its size.
    """

    def __init__(self, prepared: Prepared, seconds: float) -> None:
        """seconds: the rest of the time budget; infinite without one."""
        self.limits: list[str] = []
        self.parts: dict[str, str] = {}
        self._prepared = prepared
        self._sizes = scored_sizes(prepared.sources, prepared.survey)
        self._deadline = perf_counter() + max(0.0, seconds) + prepared.recipe.training.minutes * 60 * SLACK
        self._forecast = None if math.isinf(seconds) else self._measure()

    def splits(self) -> Iterator[tuple[str, Split]]:
        """Yield the splits to score. Each is scored before the next is requested, so its time is known by
        then.
        """
        remaining = dict(self._sizes)
        for name in self._sizes:
            amount = self._affordable(remaining)
            split = self._prepared.splits[name] if amount == self._sizes[name] else self._sample(name, amount)
            clock = perf_counter()
            yield name, split
            self._correct(perf_counter() - clock, amount)
            del remaining[name]

    def _measure(self) -> ScoringForecast:
        """Return the forecast from before training if it fits; else a new one, because a trained model ends
        its outputs sooner. Calibration is already done.
        """
        first = self._prepared.scoring
        if first and first.seconds(self._sizes) <= self._left:
            return replace(first, calibration=0.0)
        return self._prepared.rehearsal.forecast(self._prepared.model, limit=max(0.0, self._left))

    @property
    def _left(self) -> float:
        return self._deadline - perf_counter()

    def _affordable(self, remaining: Mapping[str, int]) -> int:
        """Return how much of the next split to score."""
        if self._forecast is None:
            return next(iter(remaining.values()))
        fewest = FEWEST[unit_of(self._prepared.sources["valid"])]
        return next(iter(shorten(remaining, self._forecast, self._left, fewest=fewest).values()))

    def _correct(self, seconds: float, amount: int) -> None:
        if self._forecast is not None:
            factor = seconds / max(1e-9, self._forecast.fixed + self._forecast.unit * amount)
            self._forecast = self._forecast.slowed(min(max(factor, LEAST_FACTOR), MOST_FACTOR))

    def _sample(self, name: str, amount: int) -> Split:
        prepared, source = self._prepared, self._prepared.sources[name]
        part = describe_part(source, amount, self._sizes[name])
        self.parts[name] = f"{amount:,} of {self._sizes[name]:,} {unit_of(source)}"
        self.limits.append(
            f"{name}: scored on {part}, to stay within the time budget of"
            f" {budget_of(prepared.recipe.training.minutes)}. To score all of them: seqlab evaluate {prepared.folder}"
        )
        return prepared.codec.encode_split(name, draw(source, amount, seed=prepared.recipe.training.seed))


def shorten(
    sizes: Mapping[str, int], forecast: ScoringForecast, seconds: float, *, fewest: int
) -> dict[str, int]:
    """Return how much of every split can be scored in this time; the first split has priority."""
    if forecast.seconds(sizes) <= seconds:
        return dict(sizes)
    units = max(0.0, seconds - forecast.overhead(len(sizes))) / max(MARGIN * forecast.unit, 1e-9)
    amounts: dict[str, int] = {}
    for place, (name, size) in enumerate(sizes.items(), start=1):
        share = SHARE_FOR_TEST if place < len(sizes) else 1.0
        amounts[name] = min(size, max(fewest, int(units * share)))
        units -= amounts[name]
    return amounts
