"""The scores of a classifier, with confidence intervals and a baseline: naive Bayes, or the nearest class
mean.
"""

from __future__ import annotations

import numpy as np

from seqlab.baselines.majority import MajorityClass
from seqlab.metrics.classification import accuracy
from seqlab.metrics.items import Items, macro_f1_items, mean_items
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.tasks.classification.baseline import ClassBaseline
from seqlab.tasks.classification.calibration import calibration_items, ranking_items
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.excerpt import excerpt
from seqlab.tasks.labeled.class_predictions import ClassPredictions
from seqlab.tasks.labeled.split import LabeledSplit

RANKING_METHODS = {
    "roc_auc": "probability that a positive example scores above a negative one,",
    "average_precision": "area under the precision-recall curve,",
}


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
