"""The scores of a classifier, with confidence intervals and a baseline: naive Bayes, or the nearest class
mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqlab.baselines.majority import MajorityClass
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.baselines.nearest_mean import NearestMean
from seqlab.baselines.text_features import BagView
from seqlab.metrics.classification import accuracy
from seqlab.metrics.items import Items, macro_f1_items, mean_items
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.tasks.classification.calibration import calibration_items, ranking_items
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.excerpt import excerpt
from seqlab.tasks.labeled.baseline_views import TUNING, baseline_views
from seqlab.tasks.labeled.class_predictions import ClassPredictions
from seqlab.tasks.labeled.split import LabeledSplit

RANKING_METHODS = {
    "roc_auc": "probability that a positive example scores above a negative one,",
    "average_precision": "area under the precision-recall curve,",
}


@dataclass(frozen=True)
class ClassBaseline:
    """The predictions of a simple model for every example of a split."""

    name: str
    predicted: Int[np.ndarray, " examples"]
    log_probs: Float[np.ndarray, "examples classes"] | None = None
    view: BagView | None = None
    """The text features it uses."""


def class_baseline(
    codec: ClassificationCodec, splits: Mapping[str, LabeledSplit], split: str
) -> ClassBaseline | None:
    """Fit the baseline for this kind of input on the training split; None without that split."""
    if "train" not in splits:
        return None
    if codec.vocabulary is None:
        examples = zip(splits["train"].steps, _label_ids(splits["train"]).tolist(), strict=True)
        means = NearestMean.fit(examples, num_classes=len(codec.labels))
        return ClassBaseline("nearest class mean", means.predict(iter(splits[split].steps)))
    return _best_bayes(codec, baseline_views(splits, split, codec.vocabulary), splits, split)


def _best_bayes(
    codec: ClassificationCodec, views: Iterable[BagView], splits: Mapping[str, LabeledSplit], split: str
) -> ClassBaseline:
    """Fit naive Bayes on the features with the best validation accuracy; on a tie, the first."""
    best: ClassBaseline | None = None
    best_accuracy = -1.0
    for view in views:
        examples = zip(view.ids["train"], _label_ids(splits["train"]).tolist(), strict=True)
        bayes = NaiveBayes.fit(examples, vocabulary_size=view.size, num_classes=len(codec.labels))
        tuned = (
            accuracy(_label_ids(splits[TUNING]), bayes.predict(iter(view.ids[TUNING])))
            if TUNING in splits
            else 0.0
        )
        if tuned > best_accuracy:
            log_probs = bayes.log_probs(iter(view.ids[split]))
            best = ClassBaseline(f"naive Bayes on {view.name}", log_probs.argmax(axis=1), log_probs, view)
            best_accuracy = tuned
    assert best is not None  # the network's tokens are always available
    return best


def _label_ids(split: LabeledSplit) -> Int[np.ndarray, " examples"]:
    return split.store["label"].values.astype(np.int64)


def majority_accuracy(
    codec: ClassificationCodec, train: LabeledSplit, predictions: ClassPredictions
) -> float:
    """Return the accuracy of always predicting the most frequent training class."""
    majority = MajorityClass.fit(train.store["label"].values.tolist(), num_classes=len(codec.labels))
    return accuracy(predictions.targets, majority.predict(len(predictions.targets)))


def classification_items(predictions: ClassPredictions) -> dict[str, Items]:
    """Return the per-example terms of each score."""
    return {
        "accuracy": mean_items(predictions.correct.astype(np.float64)),
        "macro_f1": macro_f1_items(
            predictions.targets, predictions.predicted, num_classes=predictions.num_classes
        ),
        "loss": mean_items(predictions.nats.astype(np.float64)),
        "ece": calibration_items(predictions),
    }


def classification_scores(
    predictions: ClassPredictions, baseline: ClassBaseline | None, *, temperature: float
) -> list[Score]:
    """Return accuracy and macro-F1, compared with the baseline, and the loss."""
    items, name = classification_items(predictions), baseline.name if baseline else ""
    baseline_items = _baseline_items(predictions, baseline)
    return [
        score_with_interval(
            "accuracy",
            items["accuracy"],
            baseline=baseline_items.get("accuracy"),
            baseline_name=name,
            method=f"share of {len(predictions.targets):,} correct; 95% CI by bootstrap over rows",
        ),
        score_with_interval(
            "macro_f1",
            items["macro_f1"],
            baseline=baseline_items.get("macro_f1"),
            baseline_name=name,
            method=(
                "mean F1 of the classes; a class that is never predicted counts as 0, one that occurs neither in the"
                " data nor in the predictions is excluded"
            ),
        ),
        score_with_interval(
            "loss",
            items["loss"],
            higher_is_better=False,
            method="mean cross-entropy in nats"
            + ("" if temperature == 1.0 else f", at temperature {temperature:.3f}"),
        ),
    ]


def of_single_label(score: Score, label: str) -> Score:
    """Return a score of rows that all have one label: without an interval and a comparison, since always predicting
    that label would be perfect.
    """
    note = f"every row is {excerpt(label)!r}, so this cannot say whether the model tells labels apart"
    return Score(
        score.name, score.value, higher_is_better=score.higher_is_better, method=score.method, note=note
    )


def calibration_score(
    predictions: ClassPredictions, uncalibrated: ClassPredictions, *, temperature: float
) -> Score:
    """Return the expected calibration error, with that before temperature scaling if there is a
    temperature.
    """
    before = calibration_items(uncalibrated).full_score()
    items = calibration_items(predictions)
    return score_with_interval(
        "ece",
        items,
        higher_is_better=False,
        method="expected calibration error: mean gap between confidence and accuracy, 10 bins of equal width",
        note="" if temperature == 1.0 else f"{before:.4f} before temperature scaling",
    )


def ranking_scores(
    uncalibrated: ClassPredictions, baseline: ClassBaseline | None, *, label: str
) -> list[Score]:
    """For two classes, return how well the probability of the second class, `label`, ranks its examples
    first.
    """
    baseline_items = (
        ranking_items(ClassPredictions(uncalibrated.targets, baseline.log_probs))
        if baseline and baseline.log_probs is not None
        else {}
    )
    return [
        score_with_interval(
            name,
            items,
            baseline=baseline_items.get(name),
            baseline_name=baseline.name if baseline else "",
            method=(
                f"{RANKING_METHODS[name]} for the class {excerpt(label)!r}; 95% CI by bootstrap over rows"
            ),
        )
        for name, items in ranking_items(uncalibrated).items()
    ]


def _baseline_items(predictions: ClassPredictions, baseline: ClassBaseline | None) -> dict[str, Items]:
    """Return accuracy and macro-F1 of the baseline on the same examples."""
    if baseline is None:
        return {}
    targets = predictions.targets
    return {
        "accuracy": mean_items((baseline.predicted == targets).astype(np.float64)),
        "macro_f1": macro_f1_items(targets, baseline.predicted, num_classes=predictions.num_classes),
    }
