"""The baseline of a multi-label model: naive Bayes for each label, or label frequencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from seqlab.baselines.label_frequencies import LabelFrequencies
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.baselines.text_features import BagView
from seqlab.metrics import multi_label as metrics
from seqlab.tasks.labeled.baseline_views import FittedViews
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.multi_label.codec import MultiLabelCodec
from seqlab.tasks.multi_label.predictions import LabelPredictions, LabelTable, Probabilities

MAX_BAYES_LABELS = 200
"""With more labels, naive Bayes would take longer than the model, so label frequencies are the baseline."""


MAX_BAYES_WORK = 200_000
"""Labels times texts up to which naive Bayes is tried on several kinds of features, about ten seconds each."""


class FittedLabelBaseline:
    """The candidates for these labels, fitted on the training split."""

    def __init__(self, codec: MultiLabelCodec, train: LabeledSplit) -> None:
        self._codec, self._train = codec, train

    def predict(self, splits: Mapping[str, LabeledSplit], split: str) -> tuple[str, LabelPredictions | None]:
        """Return the name of the best candidate and its predictions for a split.

        Its features and thresholds are chosen on the validation split too.
        """
        tuning = "valid" if "valid" in splits else "train"
        tuning_truth = self._codec.truth(splits[tuning].store)
        split_truth = self._codec.truth(splits[split].store)
        best_name, best, best_f1 = "", None, -1.0
        for name, probabilities in self._candidates(splits, (tuning, split)):
            thresholds = metrics.best_thresholds(tuning_truth, probabilities[tuning])
            tuned = LabelPredictions(tuning_truth, probabilities[tuning], thresholds)
            f1 = metrics.micro_f1_items(tuned.truth, tuned.predicted).full_score()
            if f1 > best_f1:
                best_name, best_f1 = name, f1
                best = LabelPredictions(split_truth, probabilities[split], thresholds)
        return best_name, best

    def _candidates(
        self, splits: Mapping[str, LabeledSplit], names: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, Probabilities]]]:
        """Yield the name of every baseline, and its probabilities for some splits."""
        if self._codec.vocabulary is None or len(self._codec.labels) > MAX_BAYES_LABELS:
            proba = {name: self._frequencies.predict_proba(len(splits[name])) for name in names}
            yield "each label's frequency", proba
            return
        limit = 1 if self._truth.size > MAX_BAYES_WORK else None
        for view, models in islice(self._views.candidates(splits, names[-1]), limit):
            yield (
                f"naive Bayes on {view.name} for each label",
                {name: _probabilities(models, view, name) for name in names},
            )

    @cached_property
    def _truth(self) -> LabelTable:
        return self._codec.truth(self._train.store)

    @cached_property
    def _frequencies(self) -> LabelFrequencies:
        return LabelFrequencies.fit(self._truth)

    @cached_property
    def _views(self) -> FittedViews[list[NaiveBayes]]:
        assert self._codec.vocabulary is not None
        num_outputs = 2 * len(self._codec.labels)
        return FittedViews(self._train, self._codec.vocabulary, self._fit_bayes, num_outputs=num_outputs)

    def _fit_bayes(self, texts: Iterable[Any], size: int) -> list[NaiveBayes]:
        """Return a model for each label."""
        return [
            NaiveBayes.fit(
                zip(iter(texts), has_label.astype(np.int64).tolist(), strict=True),
                vocabulary_size=size,
                num_classes=2,
            )
            for has_label in self._truth.T
        ]


def _probabilities(models: Sequence[NaiveBayes], view: BagView, split: str) -> Probabilities:
    return np.stack([np.exp(model.log_probs(iter(view.ids[split]))[:, 1]) for model in models], axis=1)
