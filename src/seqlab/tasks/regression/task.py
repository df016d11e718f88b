"""Give every sequence a number: stars of a review, a price, a score, a dose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.baselines.ridge import Ridge
from seqlab.batches.batch import Batch
from seqlab.batches.columns import SequenceColumn
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.core.errors import DataError
from seqlab.losses.regression import huber_loss, squared_error
from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.examples import MostWrong
from seqlab.pages.sections.facts import Facts
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.base import Evaluation, Prediction
from seqlab.tasks.labeled.calibration_values import number_between
from seqlab.tasks.labeled.labeled_rows import LabelledRows
from seqlab.tasks.labeled.whole_sequences import WholeSequences
from seqlab.tasks.regression.predictions import NumberAnswers, items_of, predicted_numbers, score
from seqlab.tasks.regression.settings import RegressionSettings
from seqlab.tasks.sections import sliced_scores
from seqlab.tokens.target_scale import NumberScale
from seqlab.training.base import BatchLoss, Carry, Validation

LOSSES = {"huber": huber_loss, "squared": squared_error}
COVERED = 0.9
"""Share of the validation examples whose truth lies within the range of a prediction."""
RIGHT_WITHIN = 0.5
"""While training, a prediction counts as right within half a deviation: a number for the journal, not a
score.
"""
MOST_WRONG = 25


class Regression(WholeSequences):
    """Learns a number for every sequence, on a scale of mean 0 and deviation 1, and says how far off it
    is.
    """

    labels: NumberScale
    target_column = SequenceColumn("target", np.dtype(np.float32))
    reach: float | None = None
    """Half the width of the range around a prediction, in units of the number, chosen on the validation
    split.
    """

    @classmethod
    def learn_labels(cls, recipe: Recipe, rows: LabelledRows) -> NumberScale:
        return NumberScale.fit((rows.answer(row) for row in rows.rows()), where=rows.name)

    @classmethod
    def load_labels(cls, path: Path) -> NumberScale:
        return NumberScale.load(path)

    @property
    def num_outputs(self) -> int:
        return 1

    def encode_answer(self, answer: Any, *, where: str) -> float:
        scaled = self.labels.encode(answer)
        if abs(scaled) > float(np.finfo(np.float32).max):
            raise DataError(
                f"{answer:g} is too far from the training data (mean {self.labels.mean:g},"
                f" standard deviation {self.labels.deviation:g}).",
                where=where,
                cure="Correct the number, or leave out the row.",
            )
        return scaled

    def scaled(self, store: Store) -> Float[np.ndarray, " examples"]:
        """The numbers of a store, with mean 0 and deviation 1 in the training part."""
        return store["target"].values

    def targets(self, store: Store, rows: Indices) -> Float[Tensor, " batch"]:
        return torch.from_numpy(self.scaled(store)[rows])

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        predicted = model(batch.inputs, batch.is_token).squeeze(-1).float()  # (batch,)
        total = LOSSES[self.recipe.section(RegressionSettings).loss](predicted, batch["target"])
        near = int(((predicted.detach() - batch["target"]).abs() < RIGHT_WITHIN).sum())
        return BatchLoss(total, count=len(batch["target"]), correct=near, carry=carry)

    def answers(self, model: nn.Module, split: str) -> NumberAnswers:
        """Ask the model about every example of a split."""
        truth = self.labels.decode(self.scaled(self.stores[split]))
        return NumberAnswers(truth, self.labels.decode(self.outputs(model, split)[:, 0]))

    def validate(self, model: nn.Module) -> Validation:
        answers = self.answers(model, "valid")
        rmse = items_of(answers)["rmse"].full_score()
        loss = LOSSES[self.recipe.section(RegressionSettings).loss](
            torch.from_numpy(answers.predicted / self.labels.deviation),
            torch.from_numpy(answers.truth / self.labels.deviation),
        )
        return Validation(
            rmse,
            higher_is_better=False,
            facts={"valid_rmse": rmse, "valid_loss": float(loss) / len(answers.truth)},
        )

    def settle(self, model: nn.Module) -> dict[str, Any]:
        """How far most validation answers are off at most: what a range around a prediction is made of (split
        conformal prediction).

        Paper: Vovk et al. 2005, "Algorithmic Learning in a Random World"; Lei et al. 2018, arXiv:1604.04173,
        algorithm 2.
        """
        answers = self.answers(model, "valid")
        count = len(answers.truth)
        share = min(1.0, np.ceil((count + 1) * COVERED) / count)
        choices = {
            "reach": float(
                np.quantile(np.abs(answers.truth - answers.predicted), share, method="inverted_cdf")
            )
        }
        self.take(choices)
        return choices

    def take(self, choices: Mapping[str, Any]) -> None:
        self.reach = (
            number_between(choices, "reach", 0.0, np.finfo(np.float64).max, otherwise=0.0)
            if "reach" in choices
            else None
        )

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        answers = self.answers(model, split)
        items = items_of(answers)
        mean = NumberAnswers(answers.truth, np.full(len(answers.truth), self.labels.mean))
        scores = score(answers, mean=mean, ridge=self._ridge(split, answers))
        sections: list[ReportSection] = [
            Facts({"examples": len(answers.truth)}),
            predicted_numbers(answers, reach=self.reach),
            MostWrong(self._most_wrong(split, answers)),
            sliced_scores(self.slices(split, items["mae"], score="mae"), scores),
        ]
        return Evaluation(split, scores, sections, items)

    def _ridge(self, split: str, answers: NumberAnswers) -> NumberAnswers | None:
        """What a sum of token weights says, learned from the training split; None where steps are numbers."""
        texts = self.bag_of_tokens("train") if "train" in self.stores else None
        questions = self.bag_of_tokens(split)
        if texts is None or questions is None:
            return None
        size = len(self.inputs.tokenizer.vocabulary)  # type: ignore[attr-defined]  # only inputs with tokens have bags of them
        model = Ridge.fit(texts, self.labels.decode(self.scaled(self.stores["train"])), vocabulary_size=size)
        return NumberAnswers(answers.truth, model.predict(questions))

    def _most_wrong(self, split: str, answers: NumberAnswers) -> list[WrongExample]:
        """The predictions that are furthest off, with the text as it stands in the file."""
        worst = np.argsort(-np.abs(answers.truth - answers.predicted), kind="stable")[:MOST_WRONG]
        rows = self.rows_of(split, set(worst.tolist()))
        return [
            WrongExample(
                where=rows[place].where,
                text=self.shown_input(rows[place]),
                truth=number_text(answers.truth[place]),
                predicted=number_text(answers.predicted[place]),
                predicted_probability=None,
                truth_probability=None,
            )
            for place in worst.tolist()
        ]

    def prediction(self, shown: str, output: Float[np.ndarray, " outputs"], *, top: int) -> Prediction:
        """A number, and the range in which nine of ten truths lay on the validation split."""
        number = float(self.labels.decode(output)[0])
        outside = (1 - COVERED) / 2
        ends = (
            [] if self.reach is None else [(number - self.reach, outside), (number + self.reach, 1 - outside)]
        )
        return Prediction(
            shown, number_text(number), None, [(number_text(end), share) for end, share in ends]
        )


def number_text(number: float) -> str:
    """
    >>> number_text(3.14159), number_text(1234567.8), number_text(0.000012345)
    ('3.142', '1.235e+06', '1.234e-05')
    """
    return f"{number:.4g}"
