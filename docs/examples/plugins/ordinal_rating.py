"""A task of your own: ratings whose order matters, such as 1 to 5 stars.

The network has one output for every rating but the lowest, and output k is the logit of "the rating is higher
than the k-th":

    P(rating > k) = σ(logit_k)          loss = Σ_k binary cross-entropy of (rating > k)

Paper: Cheng et al. 2008, "A Neural Network Approach to Ordinal Regression", arXiv:0704.1028.

    seqlab train ratings.csv --plugin ordinal_rating.py --task ordinal_rating data.label=stars
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from seqlab.batches.batch import Batch
from seqlab.batches.columns import SequenceColumn
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.metrics.items import mean_items
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.pages.sections.facts import Facts
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source, label_of
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.subsample import undrawn
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.inputs.fit import fit_inputs, load_inputs
from seqlab.tasks.labeled.evaluator import LabeledEvaluator
from seqlab.tasks.labeled.spec import NamedAnswerSpec, labeled_rows
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.labeled.whole_sequence import (
    WholeSequenceObjective,
    WholeSequencePredictor,
    build_sequence_network,
    outputs_of,
)
from seqlab.tasks.labeled.whole_sequence_codec import LABELS, WholeSequenceCodec
from seqlab.tasks.parts import TaskParts
from seqlab.tasks.prediction import Prediction
from seqlab.tasks.spec import task_specs
from seqlab.tokens.labels import Labels
from seqlab.training.base import BatchLoss, Carry, Validation

METHODS = {
    "mae": "mean number of ranks between the predicted and the true rating",
    "accuracy": "share of exactly predicted ratings",
}
"""How each score is computed, as `seqlab evaluate` and the report say it."""


@task_specs.register("ordinal_rating")
class OrdinalRatingSpec(NamedAnswerSpec):
    """Ratings whose order matters, such as 1 to 5 stars."""

    name = "ordinal_rating"
    answer = "class"
    needs = "a rating"
    ignored = (*NamedAnswerSpec.ignored, "training.label_smoothing")

    def fits(self, source: Source, data: DataSettings, roles: object) -> bool:
        return False  # never guessed: a column of numbers may also be classes

    def read_answer(self, row: Row, data: DataSettings) -> str:
        return label_of(row, data.label)

    def load_parts(self) -> TaskParts:
        return TaskParts(
            codec=RatingCodec,
            build_model=lambda codec: build_sequence_network(codec, is_exclusive=False),
            objective=RatingObjective,
            evaluator=RatingEvaluator,
            predictor=RatingPredictor,
        )


@dataclass(frozen=True)
class RatingCodec(WholeSequenceCodec):
    """The ratings in their order, as ids from 0."""

    labels: Labels
    target_column = SequenceColumn("rating", np.dtype(np.int32))

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        rows = labeled_rows(undrawn(train), recipe)  # a subsample may lack a rating
        labels = Labels.fit(rows.answer(row) for row in rows.rows())
        return cls(recipe, fit_inputs(recipe, labeled_rows(train, recipe)), labels)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_inputs(recipe, folder), Labels.load(folder / LABELS))

    @property
    def num_outputs(self) -> int:
        return len(self.labels) - 1

    def label_names(self) -> list[str]:
        return list(self.labels.names)

    def encode_answer(self, answer: Any, *, where: str) -> int:
        return self.labels.encode(answer, where=where)

    def targets(self, store: Store, rows: Indices) -> Int[Tensor, " batch"]:
        return torch.from_numpy(store["rating"][rows].astype(np.int64))


class RatingObjective(WholeSequenceObjective[RatingCodec]):
    """Binary cross-entropy of "higher than k" for every k; validation by the mean absolute error."""

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        logits = model(batch.inputs, batch.is_token)  # (batch, ratings - 1)
        is_higher = batch["rating"][:, None] > torch.arange(logits.shape[1], device=logits.device)
        total = binary_cross_entropy_with_logits(logits, is_higher.to(logits.dtype), reduction="sum")
        correct = int(((logits > 0).sum(dim=1) == batch["rating"]).sum())
        return BatchLoss(total, count=len(logits), correct=correct)

    def validate(self, model: nn.Module) -> Validation:
        split = self.splits["valid"]
        errors = np.abs(decode_ratings(outputs_of(model, self.codec, split)) - split.store["rating"].values)
        facts = {"valid_mae": float(errors.mean()), "valid_accuracy": float((errors == 0).mean())}
        return Validation(facts["valid_mae"], higher_is_better=False, facts=facts)


class RatingPredictor(WholeSequencePredictor[RatingCodec, Calibration]):
    """The rating, and the probability of each: P(k) = P(rating > k - 1) - P(rating > k)."""

    def decode(self, text: str, output: Float[np.ndarray, " outputs"], *, top: int) -> Prediction:
        is_higher = np.minimum.accumulate(1 / (1 + np.exp(-output.astype(np.float64))))
        probabilities = -np.diff(np.concatenate([[1.0], is_higher, [0.0]]))
        best = int(decode_ratings(output[None])[0])
        order = sorted(range(len(probabilities)), key=lambda rating: (rating != best, -probabilities[rating]))
        names = self.codec.labels.names
        ranking = [(names[rating], float(probabilities[rating])) for rating in order[:top]]
        return Prediction(text, *ranking[0], ranking)


class RatingEvaluator(LabeledEvaluator[RatingCodec, LabeledSplit, RatingPredictor]):
    """The mean absolute error and the accuracy, next to the median rating of the training split."""

    def evaluate(self, predictor: RatingPredictor, split: str) -> Evaluation:
        targets = self.splits[split].store["rating"].values
        predicted = decode_ratings(outputs_of(predictor.model, self.codec, self.splits[split]))
        items = {"mae": mean_items(np.abs(predicted - targets)), "accuracy": mean_items(predicted == targets)}
        baseline = {}
        if "train" in self.splits:
            median = int(np.median(self.splits["train"].store["rating"].values))
            baseline = {"mae": np.mean(np.abs(median - targets)), "accuracy": np.mean(targets == median)}
        scores = [
            score_with_interval(
                name,
                items[name],
                baseline=float(baseline[name]) if baseline else None,
                baseline_name="the median rating" if baseline else "",
                higher_is_better=name == "accuracy",
                method=METHODS[name],
            )
            for name in items
        ]
        names = self.codec.labels.names
        answers, truths = ([(names[rating],) for rating in ids.tolist()] for ids in (predicted, targets))
        return Evaluation(
            split, scores, [Facts({"examples": len(targets)})], items, answers=answers, truths=truths
        )


def decode_ratings(logits: Float[np.ndarray, "examples outputs"]) -> Int[np.ndarray, " examples"]:
    """The number of ratings that each example is above."""
    return (logits > 0).sum(axis=1)
