"""The baseline of a regression: ridge regression for text, the last value for time series, else the training mean.

Every candidate is fitted on the training split; the one with the lowest squared error on validation data is
used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqlab.baselines.persistence import Persistence
from seqlab.baselines.ridge import Ridge
from seqlab.sources.base import STEPS
from seqlab.tasks.labeled.baseline_views import TUNING, baseline_views
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.regression.codec import RegressionCodec

MEAN = "the training mean"

Numbers = Float[np.ndarray, " examples"]


@dataclass(frozen=True)
class NumberBaseline:
    """The predictions of a simple model for every example of a split."""

    name: str
    predicted: Numbers


def number_baseline(codec: RegressionCodec, splits: Mapping[str, LabeledSplit], split: str) -> NumberBaseline:
    """Return the best candidate; the training mean if there is no training split."""
    mean = codec.labels.mean
    best = NumberBaseline(MEAN, np.full(len(splits[split]), mean))
    if "train" not in splits:
        return best
    tuning = TUNING if TUNING in splits else "train"
    truth = codec.truth(splits[tuning].store)
    best_error = float(((truth - mean) ** 2).mean())
    for name, predicted in _candidates(codec, splits, split, tuning):
        error = float(((truth - predicted[tuning]) ** 2).mean())
        if error < best_error:
            best, best_error = NumberBaseline(name, predicted[split]), error
    return best


def _candidates(
    codec: RegressionCodec, splits: Mapping[str, LabeledSplit], split: str, tuning: str
) -> Iterator[tuple[str, dict[str, Numbers]]]:
    """Yield the name of every fitted baseline, and its predictions for two splits."""
    train_numbers = codec.truth(splits["train"].store)
    if codec.vocabulary is not None:
        for view in baseline_views(splits, split, codec.vocabulary):
            ridge = Ridge.fit(iter(view.ids["train"]), train_numbers, vocabulary_size=view.size)
            yield (
                f"ridge on {view.name}",
                {name: ridge.predict(iter(view.ids[name])) for name in (tuning, split)},
            )
    elif STEPS in splits["train"].rows.columns:
        series = {
            name: [row.values[STEPS] for row in splits[name].rows.rows()] for name in ("train", tuning, split)
        }
        if len(series["train"]) == len(train_numbers):
            last = Persistence.fit(series["train"], train_numbers)
            yield last.name, {name: last.predict(series[name]) for name in (tuning, split)}
