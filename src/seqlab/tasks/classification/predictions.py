"""What a classifier said about every example of a split, and how good that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.classification import accuracy, class_scores, confusion_counts, macro_f1
from seqlab.metrics.items import Items, macro_f1_items, mean_items
from seqlab.metrics.score import Score
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.classes import ConfusionMatrix, PerClassScores
from seqlab.tasks.sections import class_lines

Classes = Int[np.ndarray, " examples"]


@dataclass(frozen=True)
class Answers:
    """The classes that were right and the log-probabilities that were given, in the order of the file."""

    targets: Classes
    log_probs: Float[np.ndarray, "examples classes"]
    decided: Classes | None = None
    """What was answered, where it need not be the likeliest class of each: tags of a sentence that were
    decided together.
    """

    @property
    def predicted(self) -> Classes:
        return self.log_probs.argmax(axis=1) if self.decided is None else self.decided

    @property
    def correct(self) -> Bool[np.ndarray, " examples"]:
        return self.predicted == self.targets

    @property
    def nats(self) -> Float[np.ndarray, " examples"]:
        return -self.log_probs[np.arange(len(self.targets)), self.targets]

    @property
    def num_classes(self) -> int:
        return self.log_probs.shape[1]

    def surest_mistakes(self, most: int) -> Classes:
        """The examples that were wrong and whose own class was thought least likely, worst first."""
        wrong = np.flatnonzero(~self.correct)
        return wrong[np.argsort(-self.nats[wrong], kind="stable")][:most]


def items_of(answers: Answers) -> dict[str, Items]:
    """What the scores of a classifier are made of: its examples."""
    return {
        "accuracy": mean_items(answers.correct.astype(np.float64)),
        "macro_f1": macro_f1_items(answers.targets, answers.predicted, num_classes=answers.num_classes),
        "loss": mean_items(answers.nats.astype(np.float64)),
    }


def score(answers: Answers, *, baseline: Classes | None, baseline_name: str) -> list[Score]:
    """Accuracy, macro-F1 and loss with their intervals, the first two beside the classes that a naive model
    chose.
    """
    targets, items = answers.targets, items_of(answers)
    naive = (
        None
        if baseline is None
        else (
            accuracy(targets, baseline),
            macro_f1(confusion_counts(targets, baseline, num_classes=answers.num_classes)),
        )
    )
    return [
        score_with_interval(
            "accuracy",
            items["accuracy"],
            baseline=naive and naive[0],
            baseline_name=baseline_name,
            method=f"share of {len(targets):,} right; 95 % bootstrap interval over examples",
        ),
        score_with_interval(
            "macro_f1",
            items["macro_f1"],
            baseline=naive and naive[1],
            baseline_name=baseline_name,
            method=(
                "mean of the F1 of the classes; one that is never predicted counts 0, one that is not there"
                " either is left out"
            ),
        ),
        score_with_interval(
            "loss", items["loss"], higher_is_better=False, method="mean cross-entropy in nats"
        ),
    ]


def class_sections(answers: Answers, names: Sequence[str]) -> list[ReportSection]:
    """The confusion matrix and the scores of every class."""
    counts = confusion_counts(answers.targets, answers.predicted, num_classes=answers.num_classes)
    each = class_scores(counts)
    lines = class_lines(
        names, each.precision.tolist(), each.recall.tolist(), each.f1.tolist(), counts.sum(axis=1).tolist()
    )
    return [ConfusionMatrix(list(names), counts.tolist()), PerClassScores(lines)]
