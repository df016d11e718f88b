"""The scores of a multi-label model, with a baseline: naive Bayes for each label, or label frequencies."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.metrics import multi_label as metrics
from seqlab.metrics.items import Items, mean_items
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.classes import PerClassScores
from seqlab.pages.sections.facts import Facts
from seqlab.tasks.evaluation import class_lines
from seqlab.tasks.multi_label.predictions import LabelPredictions


def label_items(predictions: LabelPredictions) -> dict[str, Items]:
    """Return the per-example terms of each score."""
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
    """Return micro-F1, macro-F1, subset accuracy and loss."""
    baseline_items = label_items(baseline) if baseline is not None else {}
    methods = {
        "micro_f1": f"F1 over all labels of {len(predictions.truth):,} examples",
        "macro_f1": (
            "mean F1 of the labels; a label that is never predicted counts as 0, one that occurs neither in the"
            " data nor in the predictions is excluded"
        ),
        "subset_accuracy": "share of examples whose labels are all correct",
        "loss": "mean binary cross-entropy per label in nats",
    }
    return [
        score_with_interval(
            name,
            items,
            baseline=baseline_items.get(name),
            baseline_name=baseline_name,
            higher_is_better=name != "loss",
            method=f"{methods[name]}; 95% CI by bootstrap over rows",
        )
        for name, items in label_items(predictions).items()
    ]


def label_sections(predictions: LabelPredictions, names: Sequence[str]) -> list[ReportSection]:
    """Return the scores and the threshold of every label."""
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
