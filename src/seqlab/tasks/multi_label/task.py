"""Give every sequence any number of labels: topics of an article, genres of a film, functions of a
protein.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.baselines.label_frequencies import LabelFrequencies
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.batches.batch import Batch
from seqlab.batches.columns import StepColumn
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.batches.stored_column import StoredColumn
from seqlab.core.errors import DataError, listed
from seqlab.losses.binary_cross_entropy import binary_cross_entropy
from seqlab.metrics.multi_label import best_thresholds
from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.examples import MostWrong
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.base import Evaluation, Prediction
from seqlab.tasks.inputs import TextInputs
from seqlab.tasks.labeled.calibration_values import number_between
from seqlab.tasks.labeled.labeled_rows import LabelledRows
from seqlab.tasks.labeled.whole_sequences import NamedAnswers
from seqlab.tasks.multi_label.predictions import LabelAnswers, items_of, label_sections, score
from seqlab.tasks.sections import sliced_scores
from seqlab.tokens.labels import Labels
from seqlab.training.base import BatchLoss, Carry, Validation

BETWEEN_LABELS = ", "
USUAL = 0.5
"""The threshold of a label for which nothing better was found."""
MOST_BASELINE_LABELS = 200
"""With more labels than this a naive Bayes for each of them would take longer than the model; frequencies
stand alone then.
"""


class MultiLabel(NamedAnswers):
    """Learns for every label whether a sequence has it, and from which probability on it is best said."""

    target_column = StepColumn("labels", np.dtype(np.int32))  # any number of them for a sequence
    thresholds: Float[np.ndarray, " labels"] | None = None
    """For each label the probability from which it is said, chosen on the validation split."""

    @classmethod
    def learn_labels(cls, recipe: Recipe, rows: LabelledRows) -> Labels:
        names = [name for row in rows.rows() for name in rows.answer(row)]
        if not names:
            raise DataError(
                f"no row has a label in column '{recipe.data.label}'.",
                where=rows.name,
                cure="Is it the right column? Another: data.label=NAME",
            )
        return Labels.fit(names)

    def encode_answer(self, answer: Any, *, where: str) -> NDArray[np.int32]:
        return np.array(sorted(self.labels.encode(name, where=where) for name in answer), np.int32)

    def truth(self, store: Store, rows: Indices | None = None) -> Bool[np.ndarray, "examples labels"]:
        """Which labels examples have."""
        labels, wanted = store["labels"], range(len(store)) if rows is None else rows.tolist()
        table = np.zeros((len(wanted), len(self.labels)), dtype=bool)
        for place, row in enumerate(wanted):
            table[place, labels[row]] = True
        return table

    def targets(self, store: Store, rows: Indices) -> Bool[Tensor, "batch labels"]:
        return torch.from_numpy(self.truth(store, rows))

    def _about(self, store: Store) -> Iterator[str]:
        yield from super()._about(store)
        truth = self.truth(store)
        if bare := int((~truth.any(axis=1)).sum()):
            yield f"{bare:,} of {len(truth):,} rows have no label, which is an answer too"
        alone = [
            name
            for name, count in zip(self.labels.names, truth.sum(axis=0).tolist(), strict=True)
            if count == 1
        ]
        if alone:
            yield f"{len(alone):,} label{'s have' if len(alone) > 1 else ' has'} one example: {listed(alone)}"

    def belongs(self, batch: Batch) -> Float[Tensor, "batch labels"]:
        return batch["labels"].float()

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        logits = model(batch.inputs, batch.is_token)  # (batch, labels)
        total = binary_cross_entropy(
            logits, batch["labels"], label_smoothing=self.recipe.training.label_smoothing
        )
        correct = int(((logits > 0) == batch["labels"]).sum())
        return BatchLoss(total, count=batch["labels"].numel(), correct=correct, carry=carry)

    def answers(self, model: nn.Module, split: str) -> LabelAnswers:
        """Ask the model about every example of a split."""
        thresholds = np.full(len(self.labels), USUAL) if self.thresholds is None else self.thresholds
        return LabelAnswers(self.truth(self.stores[split]), _sigmoid(self.outputs(model, split)), thresholds)

    def validate(self, model: nn.Module) -> Validation:
        answers = self.answers(model, "valid")
        loss, items = answers.nats, items_of(answers)
        facts = {
            "valid_accuracy": float((answers.said == answers.truth).mean()),
            "valid_micro_f1": items["micro_f1"].full_score(),
            "valid_loss": loss,
        }
        return Validation(loss, higher_is_better=False, facts=facts)

    def settle(self, model: nn.Module) -> dict[str, Any]:
        answers = self.answers(model, "valid")
        found = best_thresholds(answers.truth, answers.probabilities, default=USUAL)
        choices = {"thresholds": dict(zip(self.labels.names, found.tolist(), strict=True))}
        self.take(choices)
        return choices

    def take(self, choices: Mapping[str, Any]) -> None:
        given = choices.get("thresholds", {})
        if not isinstance(given, dict) or not given.keys() <= self.labels.ids.keys():
            raise ValueError("thresholds are not those of the labels")
        self.thresholds = np.array(
            [number_between(given, name, 0.0, 1.0, otherwise=USUAL) for name in self.labels.names]
        )

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        answers = self.answers(model, split)
        items = items_of(answers)
        name, naive = self._naive(split)
        scores = score(answers, naive=naive, naive_name=name)
        sections = [
            *label_sections(answers, self.labels.names),
            MostWrong(self._most_wrong(split, answers)),
            sliced_scores(self.slices(split, items["subset_accuracy"], score="subset_accuracy"), scores),
        ]
        names = np.array(self.labels.names, dtype=object)
        said, true = ([tuple(names[row]) for row in rows] for rows in (answers.said, answers.truth))
        return Evaluation(split, scores, sections, items, answers=said, truths=true)

    def _naive(self, split: str) -> tuple[str, LabelAnswers | None]:
        """What the frequencies of labels say or, for text, a naive Bayes for every label.

        Their thresholds are chosen on the validation split too.
        """
        if "train" not in self.stores:
            return "", None
        train, truth = self.truth(self.stores["train"]), self.truth(self.stores[split])
        tuned = "valid" if "valid" in self.stores else "train"
        if isinstance(self.inputs, TextInputs) and len(self.labels) <= MOST_BASELINE_LABELS:
            size = len(self.inputs.tokenizer.vocabulary)
            models = [
                _bayes(self.steps("train"), train[:, label], vocabulary_size=size)
                for label in range(len(self.labels))
            ]
            probabilities = {name: _bayes_probabilities(models, self.steps(name)) for name in {tuned, split}}
            name = "naive Bayes for each label"
        else:
            frequencies = LabelFrequencies.fit(train)
            probabilities = {
                name: frequencies.predict_proba(len(self.stores[name])) for name in {tuned, split}
            }
            name = "each label's frequency"
        thresholds = best_thresholds(self.truth(self.stores[tuned]), probabilities[tuned])
        return name, LabelAnswers(truth, probabilities[split], thresholds)

    def _most_wrong(self, split: str, answers: LabelAnswers) -> list[WrongExample]:
        """The examples whose labels were thought least likely, with the text as it stands in the file."""
        worst = answers.surest_mistakes(25)
        rows = self.rows_of(split, set(worst.tolist()))
        return [
            WrongExample(
                where=rows[place].where,
                text=self.shown_input(rows[place]),
                truth=self._named(answers.truth[place]),
                predicted=self._named(answers.said[place]),
                predicted_probability=answers.probability_of(answers.said)[place],
                truth_probability=answers.probability_of(answers.truth)[place],
            )
            for place in worst.tolist()
        ]

    def _named(self, decisions: Bool[np.ndarray, " labels"]) -> str:
        return (
            BETWEEN_LABELS.join(
                name for name, said in zip(self.labels.names, decisions.tolist(), strict=True) if said
            )
            or "(none)"
        )

    def prediction(self, shown: str, output: Float[np.ndarray, " outputs"], *, top: int) -> Prediction:
        """All labels that reach their threshold, and every label with its probability; that of the answer is
        the product over all labels.
        """
        thresholds = np.full(len(self.labels), USUAL) if self.thresholds is None else self.thresholds
        one = LabelAnswers(np.zeros((1, len(output)), dtype=bool), _sigmoid(output[None]), thresholds)
        order = np.argsort(-one.probabilities[0], kind="stable").tolist()
        ranking = [(self.labels.decode(label), float(one.probabilities[0, label])) for label in order]
        return Prediction(shown, self._named(one.said[0]), one.probability_of(one.said)[0], ranking)


def _sigmoid(logits: Float[np.ndarray, "examples labels"]) -> Float[np.ndarray, "examples labels"]:
    probabilities: Float[np.ndarray, "examples labels"] = np.exp(
        -np.logaddexp(0.0, -logits.astype(np.float64))
    )
    return probabilities


def _bayes(steps: StoredColumn, truth: Bool[np.ndarray, " examples"], *, vocabulary_size: int) -> NaiveBayes:
    examples = zip(steps, truth.astype(np.int64).tolist(), strict=True)
    return NaiveBayes.fit(examples, vocabulary_size=vocabulary_size, num_classes=2)


def _bayes_probabilities(
    models: list[NaiveBayes], steps: StoredColumn
) -> Float[np.ndarray, "examples labels"]:
    columns = [np.exp(model.log_probs(iter(steps))[:, 1]) for model in models]
    return np.stack(columns, axis=1)
