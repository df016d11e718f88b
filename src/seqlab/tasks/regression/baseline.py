"""The baseline of a regression: ridge regression for text, the last value for time series, else the training mean.

Every candidate is fitted on the training split; the one with the lowest squared error on validation data is
used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from seqlab.baselines.persistence import Persistence
from seqlab.baselines.ridge import Ridge
from seqlab.sources.base import STEPS
from seqlab.tasks.labeled.baseline_views import TUNING, FittedViews
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.regression.codec import RegressionCodec

MEAN = "the training mean"

Numbers = Float[np.ndarray, " examples"]


@dataclass(frozen=True)
class NumberBaseline:
    """The predictions of a simple model for every example of a split."""

    name: str
    predicted: Numbers


class FittedNumberBaseline:
    """The candidates for this kind of input, fitted on the training split."""

    def __init__(self, codec: RegressionCodec, train: LabeledSplit) -> None:
        self._codec, self._train = codec, train

    def predict(self, splits: Mapping[str, LabeledSplit], split: str) -> NumberBaseline:
        """Predict a split by the candidate that is best on validation data."""
        tuning = TUNING if TUNING in splits else "train"
        truth = self._codec.truth(splits[tuning].store)
        best = mean_baseline(self._codec, splits[split])
        best_error = float(((truth - self._codec.labels.mean) ** 2).mean())
        for name, predicted in self._candidates(splits, split, tuning):
            error = float(((truth - predicted[tuning]) ** 2).mean())
            if error < best_error:
                best, best_error = NumberBaseline(name, predicted[split]), error
        return best

    def _candidates(
        self, splits: Mapping[str, LabeledSplit], split: str, tuning: str
    ) -> Iterator[tuple[str, dict[str, Numbers]]]:
        """Yield the name of every fitted baseline, and its predictions for two splits."""
        if self._codec.vocabulary is not None:
            for view, ridge in self._views.candidates(splits, split):
                predicted = {name: ridge.predict(iter(view.ids[name])) for name in (tuning, split)}
                yield f"ridge on {view.name}", predicted
        elif STEPS in self._train.rows.columns:
            train_numbers = self._codec.truth(self._train.store)
            series = {
                name: [row.values[STEPS] for row in splits[name].rows.rows()]
                for name in ("train", tuning, split)
            }
            if len(series["train"]) == len(train_numbers):
                last = Persistence.fit(series["train"], train_numbers)
                yield last.name, {name: last.predict(series[name]) for name in (tuning, split)}

    @cached_property
    def _views(self) -> FittedViews[Ridge]:
        assert self._codec.vocabulary is not None
        return FittedViews(self._train, self._codec.vocabulary, self._fit_ridge, num_outputs=1)

    def _fit_ridge(self, texts: Iterable[Any], size: int) -> Ridge:
        return Ridge.fit(texts, self._codec.truth(self._train.store), vocabulary_size=size)


def mean_baseline(codec: RegressionCodec, split: LabeledSplit) -> NumberBaseline:
    """Predict the training mean, which is known without the training split."""
    return NumberBaseline(MEAN, np.full(len(split), codec.labels.mean))
