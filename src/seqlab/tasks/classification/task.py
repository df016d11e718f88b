"""Give every sequence one class: reviews, tweets, names, series, images read row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.baselines.majority import MajorityClass
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.baselines.nearest_mean import NearestMean
from seqlab.batches.batch import Batch
from seqlab.batches.columns import SequenceColumn
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.core.errors import DataError
from seqlab.losses.cross_entropy import class_cross_entropy
from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.calibration import apply_temperature, fit_temperature
from seqlab.metrics.classification import accuracy, confusion_counts, macro_f1, mean_batch_accuracy
from seqlab.metrics.score import Score
from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.attention import QueryAttention
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.examples import MostWrong
from seqlab.pages.sections.facts import BatchMeanAccuracy, Facts
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.base import Evaluation, Prediction, shown
from seqlab.tasks.classification.calibration import (
    best_threshold,
    calibration_items,
    calibration_section,
    ranking_items,
    thresholds_section,
)
from seqlab.tasks.classification.class_weights import about_counts, balanced_weights
from seqlab.tasks.classification.predictions import Answers, class_sections, items_of, score
from seqlab.tasks.classification.settings import ClassificationSettings
from seqlab.tasks.classification.token_heatmaps import MOST_STRIPS, token_strips
from seqlab.tasks.inputs import TextInputs
from seqlab.tasks.labeled.calibration_values import number_between
from seqlab.tasks.labeled.labeled_rows import LabelledRows
from seqlab.tasks.labeled.labeled_sequences import EVALUATION_BATCH
from seqlab.tasks.labeled.whole_sequences import NamedAnswers
from seqlab.tasks.sections import sliced_scores
from seqlab.tokens.labels import Labels
from seqlab.training.base import BatchLoss, Carry, Validation

MOST_WRONG = 25
RANKED = {
    "roc_auc": "the chance that an example scores above another one,",
    "average_precision": "the area under precision over recall,",
}


class Classification(NamedAnswers):
    """Reads labelled sequences, learns to tell the classes apart, and says how well."""

    is_exclusive = True
    target_column = SequenceColumn("label", np.dtype(np.int32))
    class_weights: Float[Tensor, " classes"]
    """What an example of each class counts, where classes are balanced."""
    temperature: float = 1.0
    """By which logits are divided, so that a probability means what it says."""
    threshold: float | None = None
    """Of two classes: the probability of the second one from which saying it gave the best F1 on the
    validation split.
    """

    @classmethod
    def learn_labels(cls, recipe: Recipe, rows: LabelledRows) -> Labels:
        labels = Labels.fit(rows.answer(row) for row in rows.rows())
        if len(labels) < 2:
            raise DataError(
                f"every row has the same label '{shown(labels.names[0])}'.",
                where=rows.name,
                cure=(
                    f"A classifier needs at least two classes; is '{recipe.data.label}' the label column?"
                    " Another: data.label=NAME"
                ),
            )
        return labels

    def encode_answer(self, answer: Any, *, where: str) -> int:
        return self.labels.encode(answer, where=where)

    def targets(self, store: Store, rows: Indices) -> Int[Tensor, " batch"]:
        return torch.from_numpy(store["label"][rows].astype(np.int64))

    def attach(self, split: str, source: Source) -> None:
        super().attach(split, source)
        if split == "train":
            counts = np.bincount(self.stores["train"]["label"].values, minlength=len(self.labels))
            self.class_weights = torch.tensor(balanced_weights(counts), dtype=torch.float32)
            self.notes += [
                f"train: {sentence}"
                for sentence in about_counts(
                    self.labels.names,
                    counts,
                    weights=self.recipe.section(ClassificationSettings).class_weights,
                )
            ]

    def belongs(self, batch: Batch) -> Float[Tensor, "batch classes"]:
        return F.one_hot(batch["label"], len(self.labels)).float()

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        logits = model(batch.inputs, batch.is_token)  # (batch, classes)
        weights = (
            self.class_weights.to(logits)
            if self.recipe.section(ClassificationSettings).class_weights == "balanced"
            else None
        )
        total = class_cross_entropy(
            logits,
            batch["label"],
            label_smoothing=self.recipe.training.label_smoothing,
            class_weights=weights,
        )
        if self.teacher is not None:
            total = self.teacher.soft_targets(self.teacher.look(batch.inputs, batch.is_token)).mix(
                total, logits
            )
        seen = len(batch["label"])
        count = seen if weights is None else float(weights[batch["label"]].sum())
        return BatchLoss(
            total, count, correct=int((logits.argmax(dim=-1) == batch["label"]).sum()), carry=carry, seen=seen
        )

    def validate(self, model: nn.Module) -> Validation:
        answers = self.answers(model, "valid", temperature=1.0)
        right, loss = accuracy(answers.targets, answers.predicted), float(answers.nats.mean())
        macro = macro_f1(
            confusion_counts(answers.targets, answers.predicted, num_classes=answers.num_classes)
        )
        value = macro if self.recipe.section(ClassificationSettings).class_weights == "balanced" else right
        return Validation(
            value,
            higher_is_better=True,
            facts={"valid_accuracy": right, "valid_macro_f1": macro, "valid_loss": loss},
            loss=loss,
        )

    def answers(self, model: nn.Module, split: str, *, temperature: float | None = None) -> Answers:
        """Ask the model about every example of a split."""
        log_probs = apply_temperature(
            self.outputs(model, split), self.temperature if temperature is None else temperature
        )
        return Answers(self.stores[split]["label"].values.astype(np.int64), log_probs.astype(np.float32))

    def settle(self, model: nn.Module) -> dict[str, Any]:
        """The temperature that fits the validation split and, for two classes, the threshold with the best F1
        there.
        """
        answers = self.answers(model, "valid", temperature=1.0)
        self.take({"temperature": fit_temperature(answers.log_probs, answers.targets)})
        if len(self.labels) == 2 and (answers.targets == 1).any():
            self.take(
                {"temperature": self.temperature, "threshold": best_threshold(self.answers(model, "valid"))}
            )
        return {"temperature": self.temperature, "threshold": self.threshold}

    def take(self, choices: Mapping[str, Any]) -> None:
        self.temperature = number_between(choices, "temperature", 1e-3, 1e3, otherwise=1.0)
        self.threshold = (
            number_between(choices, "threshold", 0.0, 1.0, otherwise=0.5)
            if choices.get("threshold") is not None
            else None
        )

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        answers, before = self.answers(model, split), self.answers(model, split, temperature=1.0)
        naive = self._naive(split)
        items = {**items_of(answers), "calibration_error": calibration_items(answers)}
        scores = score(
            answers, baseline=naive.predicted if naive else None, baseline_name=naive.name if naive else ""
        )
        scores[-1] = replace(
            scores[-1], method=f"{scores[-1].method}, at the temperature {self.temperature:.3f}"
        )
        scores.append(
            score_with_interval(
                "calibration_error",
                items["calibration_error"],
                baseline=calibration_items(before).full_score(),
                baseline_name="without the temperature",
                higher_is_better=False,
                method="mean gap between how sure and how right, over 10 bins of equal width (ECE)",
            )
        )
        majority = self._majority_accuracy(answers)
        batch_size = self.recipe.training.batch_size or EVALUATION_BATCH
        sections: list[ReportSection] = [
            Facts({"examples": len(answers.targets), "majority_accuracy": majority}),
            BatchMeanAccuracy(mean_batch_accuracy(answers.correct, batch_size=batch_size), batch_size),
            *class_sections(answers, self.labels.names),
            MostWrong(self._most_wrong(split, answers)),
            sliced_scores(self.slices(split, items["accuracy"], score="accuracy"), scores),
            calibration_section(before, answers, temperature=self.temperature),
            QueryAttention(
                token_strips(
                    self,
                    model,
                    split,
                    [self.labels.names[label] for label in answers.predicted[:MOST_STRIPS]],
                )
            ),
        ]
        if (
            len(self.labels) == 2 and len(np.unique(answers.targets)) == 2
        ):  # of one class alone nothing can be put first
            items |= ranking_items(answers)
            scores += self._ranked(answers, naive)
            sections.append(thresholds_section(answers, label=self.labels.names[1], chosen=self.threshold))
        said, true = (
            [(self.labels.names[label],) for label in ids.tolist()]
            for ids in (answers.predicted, answers.targets)
        )
        return Evaluation(split, scores, sections, items, answers=said, truths=true)

    def _ranked(self, answers: Answers, naive: Naive | None) -> list[Score]:
        """How well the probability of the second class puts its examples first."""
        beside = (
            ranking_items(Answers(answers.targets, naive.log_probs))
            if naive and naive.log_probs is not None
            else {}
        )
        return [
            score_with_interval(
                name,
                items,
                baseline=beside[name].full_score() if name in beside else None,
                baseline_name=naive.name if naive else "",
                method=(
                    f"{RANKED[name]} of the class {shown(self.labels.names[1])!r}; 95 % bootstrap interval"
                    " over examples"
                ),
            )
            for name, items in ranking_items(answers).items()
        ]

    def _majority_accuracy(self, answers: Answers) -> float | None:
        if "train" not in self.stores:
            return None
        majority = MajorityClass.fit(
            self.stores["train"]["label"].values.tolist(), num_classes=len(self.labels)
        )
        return accuracy(answers.targets, majority.predict(len(answers.targets)))

    def _naive(self, split: str) -> Naive | None:
        """What the best naive model for this kind of input says, learned from the training split."""
        if "train" not in self.stores:
            return None
        examples = zip(self.steps("train"), self.stores["train"]["label"].values.tolist(), strict=True)
        questions = iter(self.steps(split))
        if isinstance(self.inputs, TextInputs):
            bayes = NaiveBayes.fit(
                examples, vocabulary_size=len(self.inputs.tokenizer.vocabulary), num_classes=len(self.labels)
            )
            log_probs = bayes.log_probs(questions)
            return Naive("naive Bayes", log_probs.argmax(axis=1), log_probs)
        return Naive(
            "nearest class mean", NearestMean.fit(examples, num_classes=len(self.labels)).predict(questions)
        )

    def _most_wrong(self, split: str, answers: Answers) -> list[WrongExample]:
        """The mistakes the model was surest of, with the text as it stands in the file."""
        worst = answers.surest_mistakes(MOST_WRONG)
        rows = self.rows_of(split, set(worst.tolist()))
        return [
            WrongExample(
                where=rows[place].where,
                text=self.shown_input(rows[place]),
                truth=self.labels.decode(int(answers.targets[place])),
                predicted=self.labels.decode(int(answers.predicted[place])),
                predicted_probability=float(np.exp(answers.log_probs[place].max())),
                truth_probability=float(np.exp(-answers.nats[place])),
            )
            for place in worst.tolist()
        ]

    def prediction(self, shown: str, output: Float[np.ndarray, " outputs"], *, top: int) -> Prediction:
        shares = np.exp(apply_temperature(output[None], self.temperature)[0])  # (classes,)
        ranking = [
            (self.labels.decode(place), float(shares[place]))
            for place in np.argsort(-shares, kind="stable")[:top].tolist()
        ]
        return Prediction(shown, ranking[0][0], ranking[0][1], ranking)


@dataclass(frozen=True)
class Naive:
    """What a naive model said about every example of a split."""

    name: str
    predicted: Int[np.ndarray, " examples"]
    log_probs: Float[np.ndarray, "examples classes"] | None = None
