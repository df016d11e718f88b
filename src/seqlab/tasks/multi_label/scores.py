"""The scores of a multi-label model, with a baseline: naive Bayes for each label, or label frequencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from jaxtyping import Bool

from seqlab.baselines.label_frequencies import LabelFrequencies
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.baselines.text_features import BagView
from seqlab.metrics import multi_label as metrics
from seqlab.metrics.items import Items, mean_items
from seqlab.metrics.multi_label import best_thresholds
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.classes import PerClassScores
from seqlab.pages.sections.facts import Facts
from seqlab.tasks.evaluation import class_lines
from seqlab.tasks.labeled.baseline_views import baseline_views
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.multi_label.codec import MultiLabelCodec
from seqlab.tasks.multi_label.predictions import LabelPredictions, LabelTable, Probabilities

MAX_BAYES_LABELS = 200
"""With more labels, naive Bayes would take longer than the model, so label frequencies are the baseline."""


MAX_BAYES_WORK = 200_000
"""Labels times texts up to which naive Bayes is tried on several kinds of features, about ten seconds each."""


def label_baseline(
    codec: MultiLabelCodec, splits: Mapping[str, LabeledSplit], split: str
) -> tuple[str, LabelPredictions | None]:
    """Return the name of the baseline and its predictions for a split; None without a training split.

    Its features and thresholds are chosen on the validation split too.
    """
    if "train" not in splits:
        return "", None
    tuning = "valid" if "valid" in splits else "train"
    truth = codec.truth(splits["train"].store)
    tuning_truth, split_truth = codec.truth(splits[tuning].store), codec.truth(splits[split].store)
    best_name, best, best_f1 = "", None, -1.0
    for name, probabilities in _candidates(codec, splits, truth, (tuning, split)):
        thresholds = best_thresholds(tuning_truth, probabilities[tuning])
        tuned = LabelPredictions(tuning_truth, probabilities[tuning], thresholds)
        f1 = metrics.micro_f1_items(tuned.truth, tuned.predicted).full_score()
        if f1 > best_f1:
            best_name, best_f1 = name, f1
            best = LabelPredictions(split_truth, probabilities[split], thresholds)
    return best_name, best


def _candidates(
    codec: MultiLabelCodec, splits: Mapping[str, LabeledSplit], truth: LabelTable, names: Sequence[str]
) -> Iterator[tuple[str, dict[str, Probabilities]]]:
    """Yield the name of every baseline, and its probabilities for some splits."""
    if codec.vocabulary is None or len(codec.labels) > MAX_BAYES_LABELS:
        frequencies = LabelFrequencies.fit(truth)
        yield "each label's frequency", {name: frequencies.predict_proba(len(splits[name])) for name in names}
        return
    views = baseline_views(splits, names[-1], codec.vocabulary)
    if truth.size > MAX_BAYES_WORK:
        views = islice(views, 1)
    for view in views:
        models = [_fit_bayes(view, has_label) for has_label in truth.T]
        yield (
            f"naive Bayes on {view.name} for each label",
            {
                name: np.stack(
                    [np.exp(model.log_probs(iter(view.ids[name]))[:, 1]) for model in models], axis=1
                )
                for name in names
            },
        )


def _fit_bayes(view: BagView, has_label: Bool[np.ndarray, " examples"]) -> NaiveBayes:
    examples = zip(view.ids["train"], has_label.astype(np.int64).tolist(), strict=True)
    return NaiveBayes.fit(examples, vocabulary_size=view.size, num_classes=2)


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
