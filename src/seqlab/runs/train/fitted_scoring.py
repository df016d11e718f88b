"""Which held-out rows are scored in the time that training has left: all of them wherever that is possible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from time import perf_counter

from seqlab.runs.train.held_out_sample import draw, unit_of
from seqlab.runs.train.plan import scored_sizes
from seqlab.runs.train.prepare import Prepared
from seqlab.runs.train.scoring_forecast import MARGIN, ScoringForecast
from seqlab.tasks.split import Split

FEWEST = {"rows": 50, "characters": 10_000}
"""Fewer say too little: a budget that does not allow these is exceeded."""
SLACK = 0.05
"""A forecast that exceeds the time by less than this share of the budget is no reason to leave rows out."""
SHARE_FOR_TEST = 0.7
"""Of the time that does not suffice for all rows; the validation rows have been scored while training."""


def fit_to_time(prepared: Prepared, seconds: float) -> tuple[dict[str, Split], list[str]]:
    """The splits to score within about so many seconds, and a sentence for each that is not whole."""
    sizes = scored_sizes(prepared.sources, prepared.survey)
    seconds += prepared.recipe.training.minutes * 60 * SLACK
    whole = {name: prepared.splits[name] for name in sizes}
    if math.isinf(seconds) or (prepared.scoring and prepared.scoring.seconds(sizes) <= seconds):
        return whole, []
    clock = perf_counter()
    # a trained model ends what it generates sooner than the one that was measured first
    forecast = prepared.rehearsal.forecast(prepared.model, limit=max(0.0, seconds))
    affordable = shorten(sizes, forecast, seconds - (perf_counter() - clock), fewest=_fewest(prepared))
    chosen, sentences = dict(whole), []
    for name, amount in affordable.items():
        if amount < sizes[name]:
            chosen[name], sentence = _sample(prepared, name, amount, whole=sizes[name])
            sentences.append(sentence)
    return chosen, sentences


def shorten(
    sizes: Mapping[str, int], forecast: ScoringForecast, seconds: float, *, fewest: int
) -> dict[str, int]:
    """How much of every split can be scored in so many seconds; the test split comes first."""
    if forecast.seconds(sizes) <= seconds:
        return dict(sizes)
    units = max(0.0, seconds - forecast.overhead(len(sizes))) / max(MARGIN * forecast.unit, 1e-9)
    amounts: dict[str, int] = {}
    for place, (name, size) in enumerate(sizes.items(), start=1):
        share = SHARE_FOR_TEST if place < len(sizes) else 1.0
        amounts[name] = min(size, max(fewest, int(units * share)))
        units -= amounts[name]
    return amounts


def _fewest(prepared: Prepared) -> int:
    return FEWEST[unit_of(prepared.sources["valid"])]


def _sample(prepared: Prepared, name: str, amount: int, *, whole: int) -> tuple[Split, str]:
    source = prepared.sources[name]
    part = draw(source, amount, seed=prepared.recipe.training.seed)
    how = "the first" if unit_of(source) == "characters" else "a random sample of"
    return prepared.codec.encode_split(name, part), (
        f"{name}: scored on {how} {amount:,} of {whole:,} {unit_of(source)}, to keep the time budget of"
        f" {prepared.recipe.training.minutes:g} minutes. All of them: seqlab evaluate {prepared.folder}"
    )
