"""The scores of a tagger, with confidence intervals over sentences and a baseline."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from seqlab.metrics.items import Items, grouped_mean_items, macro_f1_items
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.metrics.slices import (
    SEEN_EDGES,
    ScoreSlices,
    assign_groups,
    parts_of_items,
    parts_within_items,
    quartile_edges,
    range_labels,
    slice_scores,
)
from seqlab.tasks.tagging.baseline import BaselineTags
from seqlab.tasks.tagging.predictions import TagPredictions

TIMES = {0: "never", 1: "1–4", 2: "5–49", 3: "50 or more"}
"""Names for the groups of metrics.slices.SEEN_EDGES."""


def tag_items(predictions: TagPredictions, baseline: BaselineTags | None) -> dict[str, Items]:
    """Return the per-sentence terms of each score."""
    words, sentences = predictions.words, predictions.sentences
    items: dict[str, Items] = {
        "accuracy": grouped_mean_items(words.correct, sentences),
        "macro_f1": macro_f1_items(
            words.targets, words.predicted, num_classes=words.num_classes, groups=sentences
        ),
        "loss": grouped_mean_items(words.nats, sentences),
    }
    if baseline is not None and not baseline.is_seen.all():
        items["accuracy_on_unseen_words"] = grouped_mean_items(
            words.correct[~baseline.is_seen], sentences[~baseline.is_seen]
        )
    return items


def tag_scores(
    predictions: TagPredictions, baseline: BaselineTags | None, *, noun: str = "word"
) -> list[Score]:
    """Return accuracy on all words and on unseen words, macro-F1 and loss.

    noun: what is tagged.
    """
    targets, items = predictions.words.targets, tag_items(predictions, baseline)
    interval = _interval(predictions.sentences)
    baseline_items = _baseline_items(predictions, baseline)
    name = "" if baseline is None else baseline.name
    return [
        score_with_interval(
            "accuracy",
            items["accuracy"],
            baseline=baseline_items.get("accuracy"),
            baseline_name=name,
            method=f"share of {len(targets):,} {noun}s with the correct tag; {interval}",
            unit="sentences",
        ),
        *_on_unseen(predictions, baseline, items, baseline_items),
        score_with_interval(
            "macro_f1",
            items["macro_f1"],
            baseline=baseline_items.get("macro_f1"),
            baseline_name=name,
            method=(
                "mean F1 of the tags; a tag that is never predicted counts as 0, one that occurs neither in the"
                f" data nor in the predictions is excluded; {interval}"
            ),
            unit="sentences",
        ),
        score_with_interval(
            "loss",
            items["loss"],
            higher_is_better=False,
            method=f"mean cross-entropy per {noun} in nats; {interval}",
            unit="sentences",
        ),
    ]


def tag_slices(
    predictions: TagPredictions, baseline: BaselineTags | None, *, noun: str = "word"
) -> list[ScoreSlices]:
    """Return the accuracy by sentence length, and by training frequency of the word."""
    words, sentences = predictions.words, predictions.sentences
    lengths = np.bincount(sentences)
    lengths = lengths[lengths > 0]
    groups = assign_groups(lengths, quartile_edges(lengths))
    by_length = slice_scores(
        f"{noun}s in the sentence",
        score="accuracy",
        unit="sentences",
        parts=parts_of_items(
            grouped_mean_items(words.correct, sentences), groups, range_labels(lengths, groups)
        ),
    )
    if baseline is None or baseline.times is None:
        return by_length
    return by_length + slice_scores(
        "occurrences of the word in training",
        score="accuracy",
        unit="words",
        parts=parts_within_items(
            lambda inside: grouped_mean_items(words.correct[inside], sentences[inside]),
            assign_groups(baseline.times, SEEN_EDGES),
            TIMES,
        ),
    )


def _baseline_items(predictions: TagPredictions, baseline: BaselineTags | None) -> dict[str, Items]:
    """Return accuracy and macro-F1 of the baseline on the same sentences."""
    if baseline is None:
        return {}
    words, sentences = predictions.words, predictions.sentences
    correct = baseline.predicted == words.targets
    items: dict[str, Items] = {
        "accuracy": grouped_mean_items(correct, sentences),
        "macro_f1": macro_f1_items(
            words.targets, baseline.predicted, num_classes=words.num_classes, groups=sentences
        ),
    }
    if not baseline.is_seen.all():
        is_unseen = ~baseline.is_seen
        items["accuracy_on_unseen_words"] = grouped_mean_items(correct[is_unseen], sentences[is_unseen])
    return items


def _interval(sentences: Int[np.ndarray, " words"]) -> str:
    return f"95% CI by bootstrap over {len(np.unique(sentences)):,} sentences"


def _on_unseen(
    predictions: TagPredictions,
    baseline: BaselineTags | None,
    items: dict[str, Items],
    baseline_items: dict[str, Items],
) -> list[Score]:
    """Return the accuracy on words that do not occur in training, if there are any."""
    if baseline is None or baseline.is_seen.all():
        return []
    is_unseen = ~baseline.is_seen
    targets = predictions.words.targets[is_unseen]
    return [
        score_with_interval(
            "accuracy_on_unseen_words",
            items["accuracy_on_unseen_words"],
            baseline=baseline_items["accuracy_on_unseen_words"],
            baseline_name="the most frequent tag",
            method=(
                f"accuracy on the {len(targets):,} words that do not occur in the training data;"
                f" {_interval(predictions.sentences[is_unseen])}"
            ),
            unit="sentences",
        )
    ]
