"""The scores of a model for several labels, with intervals and next to a baseline."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.metrics import multi_label as metrics
from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.items import Items, mean_items
from seqlab.metrics.score import Score
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.classes import PerClassScores
from seqlab.pages.sections.facts import Facts
from seqlab.tasks.multi_label.predictions import LabelPredictions
from seqlab.tasks.sections import class_lines


def label_items(predictions: LabelPredictions) -> dict[str, Items]:
    """The examples behind each score."""
    truth, predicted = predictions.truth, predictions.predicted
    return {
        "micro_f1": metrics.micro_f1_items(truth, predicted),
        "macro_f1": metrics.multilabel_macro_f1_items(truth, predicted),
        "subset_accuracy": metrics.subset_accuracy_items(truth, predicted),
        "loss": mean_items(predictions.nats),
    }


def multi_label_scores(
    predictions: LabelPredictions, *, baseline: LabelPredictions | None, baseline_name: str
) -> list[Score]:
    """Micro-F1, macro-F1, subset accuracy and loss."""
    baseline_items = label_items(baseline) if baseline is not None else {}
    methods = {
        "micro_f1": f"F1 of all decisions on {len(predictions.truth):,} examples together",
        "macro_f1": (
            "mean of the F1 of the labels; one that is never predicted counts 0, one that no example has"
            " either is left out"
        ),
        "subset_accuracy": "share of examples whose labels are all right",
        "loss": "mean binary cross-entropy of a label in nats",
    }
    return [
        score_with_interval(
            name,
            items,
            baseline=baseline_items[name].full_score() if baseline_items else None,
            baseline_name=baseline_name,
            higher_is_better=name != "loss",
            method=f"{methods[name]}; 95 % bootstrap interval over examples",
        )
        for name, items in label_items(predictions).items()
    ]


def label_sections(predictions: LabelPredictions, names: Sequence[str]) -> list[ReportSection]:
    """The scores and the threshold of every label."""
    truth = predictions.truth
    scores = metrics.label_scores(truth, predictions.predicted)
    lines = class_lines(
        names,
        scores.precision.tolist(),
        scores.recall.tolist(),
        scores.f1.tolist(),
        truth.sum(axis=0).tolist(),
    )
    thresholds = dict(zip(names, predictions.thresholds.tolist(), strict=True))
    return [Facts({"examples": len(truth), "thresholds_by_label": thresholds}), PerClassScores(lines)]
