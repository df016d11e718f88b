"""What a model said about every label of every example of a split, and how good that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.items import Items, mean_items
from seqlab.metrics.multi_label import (
    label_scores,
    micro_f1_items,
    multilabel_macro_f1_items,
    subset_accuracy_items,
)
from seqlab.metrics.score import Score
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.classes import PerClassScores
from seqlab.pages.sections.facts import Facts
from seqlab.tasks.sections import class_lines

SMALLEST = 1e-12

Decisions = Bool[np.ndarray, "examples labels"]


@dataclass(frozen=True)
class LabelAnswers:
    """The labels that examples have, the probabilities that were given, and from which probability each label
    is said.
    """

    truth: Decisions
    probabilities: Float[np.ndarray, "examples labels"]
    thresholds: Float[np.ndarray, " labels"]

    @property
    def said(self) -> Decisions:
        return self.probabilities >= self.thresholds

    @property
    def each_nats(self) -> Float[np.ndarray, " examples"]:
        """The mean over labels of -log of the probability of the truth."""
        sure = np.where(self.truth, self.probabilities, 1 - self.probabilities)
        nats: Float[np.ndarray, " examples"] = -np.log(np.maximum(sure, SMALLEST)).mean(axis=1)
        return nats

    @property
    def nats(self) -> float:
        return float(self.each_nats.mean())

    def probability_of(self, decisions: Decisions) -> list[float]:
        """The product over labels, as if they were independent of each other given the text: for each example
        that all decisions are right.
        """
        product: list[float] = (
            np.where(decisions, self.probabilities, 1 - self.probabilities).prod(axis=1).tolist()
        )
        return product

    def surest_mistakes(self, most: int) -> Int[np.ndarray, " mistakes"]:
        """The examples with a wrong label or without a right one whose truth was thought least likely, worst
        first.
        """
        wrong = np.flatnonzero((self.said != self.truth).any(axis=1))
        return wrong[np.argsort(-self.each_nats[wrong], kind="stable")][:most]


def items_of(answers: LabelAnswers) -> dict[str, Items]:
    """What the scores are made of: examples."""
    truth, said = answers.truth, answers.said
    return {
        "micro_f1": micro_f1_items(truth, said),
        "macro_f1": multilabel_macro_f1_items(truth, said),
        "subset_accuracy": subset_accuracy_items(truth, said),
        "loss": mean_items(answers.each_nats),
    }


def score(answers: LabelAnswers, *, naive: LabelAnswers | None, naive_name: str) -> list[Score]:
    """Micro-F1, macro-F1, subset accuracy and loss with their intervals, beside a naive model."""
    beside = items_of(naive) if naive is not None else {}
    how = {
        "micro_f1": f"F1 of all decisions on {len(answers.truth):,} examples together",
        "macro_f1": (
            "mean of the F1 of the labels; one that is never said counts 0, one that nothing has either is"
            " left out"
        ),
        "subset_accuracy": "share of examples whose labels are all right",
        "loss": "mean binary cross-entropy of a label in nats",
    }
    return [
        score_with_interval(
            name,
            items,
            baseline=beside[name].full_score() if beside else None,
            baseline_name=naive_name,
            higher_is_better=name != "loss",
            method=f"{how[name]}; 95 % bootstrap interval over examples",
        )
        for name, items in items_of(answers).items()
    ]


def label_sections(answers: LabelAnswers, names: Sequence[str]) -> list[ReportSection]:
    """The scores and the threshold of every label."""
    each = label_scores(answers.truth, answers.said)
    lines = class_lines(
        names,
        each.precision.tolist(),
        each.recall.tolist(),
        each.f1.tolist(),
        answers.truth.sum(axis=0).tolist(),
    )
    thresholds = dict(zip(names, answers.thresholds.tolist(), strict=True))
    return [Facts({"examples": len(answers.truth), "thresholds_by_label": thresholds}), PerClassScores(lines)]
