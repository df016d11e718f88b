"""Which held-out rows are scored in the time that training has left: all of them wherever that is possible."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import perf_counter

from seqlab.runs.train.held_out_sample import describe_part, draw, unit_of
from seqlab.runs.train.plan import scored_sizes
from seqlab.runs.train.prepare import Prepared
from seqlab.runs.train.scoring_forecast import MARGIN, ScoringForecast
from seqlab.tasks.split import Split

FEWEST = {"rows": 20, "characters": 4_000}
"""Fewer say too little: a budget that does not allow these is exceeded."""
SLACK = 0.05
"""Scoring may exceed the time by this share of the budget, and has so much where nothing is left."""
SHARE_FOR_TEST = 0.7
"""Of the time that does not suffice for all rows; the validation rows have been scored while training."""
LEAST_FACTOR, MOST_FACTOR = 0.3, 10.0
"""How far the time of one split corrects the forecast for the next."""


class TimedScoring:
    """Chooses what to score, split by split, so that a forecast that was wrong for the first corrects the
    second. `limits` has a sentence for each split that is not whole, `parts` how much of it is scored.
    """

    def __init__(self, prepared: Prepared, seconds: float) -> None:
        """seconds: what is left of the time budget; infinite without one."""
        self.limits: list[str] = []
        self.parts: dict[str, str] = {}
        self._prepared = prepared
        self._sizes = scored_sizes(prepared.sources, prepared.survey)
        self._deadline = perf_counter() + max(0.0, seconds) + prepared.recipe.training.minutes * 60 * SLACK
        self._forecast = None if math.isinf(seconds) else self._measure()

    def splits(self) -> Iterator[tuple[str, Split]]:
        """The splits to score. Each is scored before the next is asked for, so its time is known by then."""
        remaining = dict(self._sizes)
        for name in self._sizes:
            amount = self._affordable(remaining)
            split = self._prepared.splits[name] if amount == self._sizes[name] else self._sample(name, amount)
            clock = perf_counter()
            yield name, split
            self._correct(perf_counter() - clock, amount)
            del remaining[name]

    def _measure(self) -> ScoringForecast:
        """The forecast before training if that fits; else another, for a trained model ends what it generates
        sooner. Calibration is done by now.
        """
        first = self._prepared.scoring
        if first and first.seconds(self._sizes) <= self._left:
            return replace(first, calibration=0.0)
        return self._prepared.rehearsal.forecast(self._prepared.model, limit=max(0.0, self._left))

    @property
    def _left(self) -> float:
        return self._deadline - perf_counter()

    def _affordable(self, remaining: Mapping[str, int]) -> int:
        """How much of the first of the remaining splits is scored."""
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
            f"{name}: scored on {part}, to keep the time budget of {prepared.recipe.training.minutes:g} minutes. All of them: seqlab evaluate"
            f" {prepared.folder}"
        )
        return prepared.codec.encode_split(name, draw(source, amount, seed=prepared.recipe.training.seed))


def shorten(
    sizes: Mapping[str, int], forecast: ScoringForecast, seconds: float, *, fewest: int
) -> dict[str, int]:
    """How much of every split can be scored in so many seconds; the first split comes first."""
    if forecast.seconds(sizes) <= seconds:
        return dict(sizes)
    units = max(0.0, seconds - forecast.overhead(len(sizes))) / max(MARGIN * forecast.unit, 1e-9)
    amounts: dict[str, int] = {}
    for place, (name, size) in enumerate(sizes.items(), start=1):
        share = SHARE_FOR_TEST if place < len(sizes) else 1.0
        amounts[name] = min(size, max(fewest, int(units * share)))
        units -= amounts[name]
    return amounts
