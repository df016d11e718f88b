"""What a tagger said about every word of a split, and how good that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.classification import accuracy, confusion_counts, macro_f1
from seqlab.metrics.items import Items, grouped_mean_items, macro_f1_items
from seqlab.metrics.score import Score
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
from seqlab.tasks.classification.predictions import Answers


@dataclass(frozen=True)
class TagAnswers:
    """The answers for all words laid end to end, and the number of the sentence in which each stands."""

    words: Answers
    sentences: Int[np.ndarray, " words"]


TIMES = {0: "never", 1: "1–4", 2: "5–49", 3: "50 or more"}
"""Names for the parts that metrics.slices.SEEN makes."""


@dataclass(frozen=True)
class NaiveTags:
    """What a tagger that never looks at neighbours says of the same words, and how often training has each;
    None where there are no words.
    """

    predicted: Int[np.ndarray, " words"]
    times: Int[np.ndarray, " words"] | None
    name: str = "the word's most frequent tag"

    @property
    def is_seen(self) -> Bool[np.ndarray, " words"]:
        return np.ones(len(self.predicted), np.bool_) if self.times is None else self.times > 0


def items_of(answers: TagAnswers, naive: NaiveTags | None) -> dict[str, Items]:
    """What the scores of a tagger are made of: its sentences."""
    words, sentences = answers.words, answers.sentences
    items: dict[str, Items] = {
        "accuracy": grouped_mean_items(words.correct, sentences),
        "macro_f1": macro_f1_items(
            words.targets, words.predicted, num_classes=words.num_classes, groups=sentences
        ),
        "loss": grouped_mean_items(words.nats, sentences),
    }
    if naive is not None and not naive.is_seen.all():
        items["accuracy_on_unseen_words"] = grouped_mean_items(
            words.correct[~naive.is_seen], sentences[~naive.is_seen]
        )
    return items


def score(answers: TagAnswers, naive: NaiveTags | None, *, noun: str = "word") -> list[Score]:
    """Accuracy on all words and on those never seen, macro-F1 and loss, each with an interval over sentences.
    noun: what is tagged.
    """
    targets, items, how = answers.words.targets, items_of(answers, naive), _how(answers.sentences)
    beside, beside_macro = _naive(targets, naive, num_classes=answers.words.num_classes)
    name = "" if naive is None else naive.name
    return [
        score_with_interval(
            "accuracy",
            items["accuracy"],
            baseline=beside,
            baseline_name=name,
            method=f"share of {len(targets):,} {noun}s with the right tag; {how}",
        ),
        *_on_unseen(answers, naive, items),
        score_with_interval(
            "macro_f1",
            items["macro_f1"],
            baseline=beside_macro,
            baseline_name=name,
            method=(
                "mean of the F1 of the tags; one that is never predicted counts 0, one that is not there"
                f" either is left out; {how}"
            ),
        ),
        score_with_interval(
            "loss",
            items["loss"],
            higher_is_better=False,
            method=f"mean cross-entropy of a {noun} in nats; {how}",
        ),
    ]


def slices_of(answers: TagAnswers, naive: NaiveTags | None, *, noun: str = "word") -> list[ScoreSlices]:
    """Accuracy by the length of the sentence, and by how often training has the word."""
    words, sentences = answers.words, answers.sentences
    lengths = np.bincount(sentences)
    lengths = lengths[lengths > 0]
    groups = assign_groups(lengths, quartile_edges(lengths))
    found = slice_scores(
        f"{noun}s in the sentence",
        score="accuracy",
        unit="sentences",
        parts=parts_of_items(
            grouped_mean_items(words.correct, sentences), groups, range_labels(lengths, groups)
        ),
    )
    if naive is None or naive.times is None:
        return found
    return found + slice_scores(
        "times that training has the word",
        score="accuracy",
        unit="words",
        parts=parts_within_items(
            lambda inside: grouped_mean_items(words.correct[inside], sentences[inside]),
            assign_groups(naive.times, SEEN_EDGES),
            TIMES,
        ),
    )


def tags_by_sentence(
    answers: TagAnswers, ids: Int[np.ndarray, " words"], names: Sequence[str]
) -> list[tuple[str, ...]]:
    """The tags of each sentence, in words."""
    starts = np.flatnonzero(np.diff(answers.sentences, prepend=-1)).tolist()
    tags = [names[tag] for tag in ids.tolist()]
    return [tuple(tags[start:stop]) for start, stop in zip(starts, [*starts[1:], len(tags)], strict=True)]


def _naive(
    targets: Int[np.ndarray, " words"], naive: NaiveTags | None, *, num_classes: int
) -> tuple[float | None, float | None]:
    """Accuracy and macro-F1 of the tags that are set without looking."""
    if naive is None:
        return None, None
    return accuracy(targets, naive.predicted), macro_f1(
        confusion_counts(targets, naive.predicted, num_classes=num_classes)
    )


def _how(sentences: Int[np.ndarray, " words"]) -> str:
    return f"95 % bootstrap interval over {len(np.unique(sentences)):,} sentences"


def _on_unseen(answers: TagAnswers, naive: NaiveTags | None, items: dict[str, Items]) -> list[Score]:
    """Accuracy on the words that training never had, where there are any."""
    if naive is None or naive.is_seen.all():
        return []
    new = ~naive.is_seen
    targets = answers.words.targets[new]
    return [
        score_with_interval(
            "accuracy_on_unseen_words",
            items["accuracy_on_unseen_words"],
            baseline=accuracy(targets, naive.predicted[new]),
            baseline_name="the most frequent tag",
            method=(
                f"share right of the {len(targets):,} words that the training data does not have;"
                f" {_how(answers.sentences[new])}"
            ),
        )
    ]
