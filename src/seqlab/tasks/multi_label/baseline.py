"""What a model for several labels has to beat: naive Bayes for each label, or the labels' frequencies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool

from seqlab.baselines.label_frequencies import LabelFrequencies
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.metrics.multi_label import best_thresholds
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.multi_label.codec import MultiLabelCodec
from seqlab.tasks.multi_label.predictions import LabelPredictions, LabelTable, Probabilities

MAX_BAYES_LABELS = 200
"""With more labels, naive Bayes for each of them would take longer than the model; frequencies are used
instead.
"""


def label_baseline(
    codec: MultiLabelCodec, splits: Mapping[str, LabeledSplit], split: str
) -> tuple[str, LabelPredictions | None]:
    """The name of the baseline and its predictions for a split; None without a training split.

    Its thresholds are chosen on the validation split too.
    """
    if "train" not in splits:
        return "", None
    tuning = "valid" if "valid" in splits else "train"
    truth = codec.truth(splits["train"].store)
    chosen = {name: splits[name] for name in (tuning, split)}
    if codec.vocabulary is not None and len(codec.labels) <= MAX_BAYES_LABELS:
        name = "naive Bayes for each label"
        probabilities = _bayes(splits["train"], truth, chosen, vocabulary_size=len(codec.vocabulary))
    else:
        name, frequencies = "each label's frequency", LabelFrequencies.fit(truth)
        probabilities = {part: frequencies.predict_proba(len(chosen[part])) for part in chosen}
    thresholds = best_thresholds(codec.truth(splits[tuning].store), probabilities[tuning])
    return name, LabelPredictions(codec.truth(splits[split].store), probabilities[split], thresholds)


def _bayes(
    train: LabeledSplit, truth: LabelTable, splits: Mapping[str, LabeledSplit], *, vocabulary_size: int
) -> dict[str, Probabilities]:
    models = [_fit_bayes(train, has_label, vocabulary_size=vocabulary_size) for has_label in truth.T]
    return {
        name: np.stack([np.exp(model.log_probs(iter(split.steps))[:, 1]) for model in models], axis=1)
        for name, split in splits.items()
    }


def _fit_bayes(
    train: LabeledSplit, has_label: Bool[np.ndarray, " examples"], *, vocabulary_size: int
) -> NaiveBayes:
    examples = zip(train.steps, has_label.astype(np.int64).tolist(), strict=True)
    return NaiveBayes.fit(examples, vocabulary_size=vocabulary_size, num_classes=2)
