"""Give every sequence one class: reviews, tweets, names, series, images read row by row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.baselines.majority import Majority
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.baselines.nearest_mean import NearestMean
from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.padding import pad
from seqlab.batches.plans import Indices
from seqlab.batches.store import StoreWriter
from seqlab.core.errors import DataError
from seqlab.losses.cross_entropy import class_cross_entropy
from seqlab.metrics.classification import accuracy, mean_of_batch_accuracies
from seqlab.models.classifier import build_classifier
from seqlab.models.settings import ConvolutionalSettings, RecurrentSettings, VisionTransformerSettings
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.columns import label_of
from seqlab.tasks.answers import Answers, describe, score
from seqlab.tasks.base import ENCODING, Evaluation, Prediction, shown, tasks
from seqlab.tasks.inputs import TextInputs, digest_of, learn_inputs, load_inputs
from seqlab.tasks.labelled_rows import STEPS, LabelledRows
from seqlab.tasks.labelled_sequences import EVALUATION_BATCH, LabelledSequences
from seqlab.tokens.labels import Labels
from seqlab.training.base import BatchLoss, Carry, Validation

WORDS, LONGEST = 30_000, 512
"""Words that are known, and the length to which texts are cut, by default."""
SAMPLE = 500
SHORT_TEXT = 40
"""Mean characters below which text is read letter by letter."""
MOST_WRONG = 25


@tasks.register("classification")
class Classification(LabelledSequences):
    """Reads labelled sequences, learns to tell the classes apart, and says how well."""

    @classmethod
    def complete(cls, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        reasons = []
        is_text = STEPS not in train.columns
        if is_text and not recipe.tokens.kind:
            texts = [str(row.values.get(recipe.data.text, "")) for row in islice(train.rows(), SAMPLE)]
            mean = sum(map(len, texts)) / max(1, len(texts))
            kind = "words" if mean >= SHORT_TEXT else "characters"
            size = {"size": recipe.tokens.size or WORDS, "lowercase": True} if kind == "words" else {}
            recipe = recipe.changed("tokens", kind=kind, **size)
            reasons.append(f"tokens are {kind} (texts of {mean:.0f} characters on average); another: tokens.kind=NAME")
            if kind == "words" and "max_length" not in recipe.data.model_fields_set:
                recipe = recipe.changed("data", max_length=LONGEST)
                reasons.append(f"texts are cut to {LONGEST} tokens; whole texts: data.max_length=0")
        if "model" not in recipe.model_fields_set:
            by_words = is_text and recipe.tokens.kind != "characters"
            model: ConvolutionalSettings | RecurrentSettings = RecurrentSettings(bidirectional=True, hidden_size=128, pooling="max")
            if by_words:
                model = ConvolutionalSettings(layers=2, hidden_size=64, dropout=0.3)
            recipe = recipe.model_copy(update={"model": model})
            reasons.append(f"a {model.kind} model; another: --model NAME")
        if isinstance(recipe.model, VisionTransformerSettings):  # chosen on validation data: docs/transformer/vision_transformer.md
            recipe = recipe.with_defaults("model", hidden_size=64, dropout=0.2).with_defaults("training", weight_decay=0.5)
            if not {"steps", "epochs", "minutes"} & recipe.training.model_fields_set:
                recipe = recipe.changed("training", epochs=60, minutes=5)
        recipe = recipe.with_defaults("training", learning_rate=3e-3)  # in a few minutes a small model gets furthest by many bold steps
        if not recipe.training.batch_size:
            recipe = recipe.changed("training", batch_size=32)
        return recipe, reasons

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        train = LabelledRows(train, text=recipe.data.text, label=recipe.data.label)
        labels = Labels.fit(label_of(row, recipe.data.label) for row in train.rows())
        if len(labels) < 2:
            raise DataError(
                f"every row has the same label '{shown(labels.names[0])}'.",
                where=train.name,
                cure=f"A classifier needs at least two classes; is '{recipe.data.label}' the label column? Another: data.label=NAME",
            )
        return cls(recipe, learn_inputs(recipe, train), labels)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_inputs(recipe, folder), Labels.load(folder / "labels.json"))

    def attach(self, split: str, source: Source) -> None:
        source = LabelledRows(source, text=self.recipe.data.text, label=self.recipe.data.label)
        made_from = {
            "task": "classification",
            "encoding": ENCODING,
            "source": source.fingerprint(),
            "inputs": digest_of(self.inputs.save),
            "labels": self.labels.names,
            "column": [self.inputs.column, self.recipe.data.label],
            "max_length": self.recipe.data.max_length,
            "bad_rows": self.recipe.data.bad_rows,
        }
        self.sources[split] = source
        self.stores[split] = cached_store(made_from, lambda folder: self._write(source, folder))
        if skipped := self.stores[split].facts["skipped"]:
            self.notes.append(f"{split}: {skipped}")

    def _write(self, source: Source, folder: Path) -> None:
        writer = StoreWriter(folder, dtype=self.inputs.dtype, width=self.inputs.width)
        for row, steps in self.inputs.encode(source.rows()):
            writer.append(steps, target=self.labels.encode(label_of(row, self.recipe.data.label), where=row.where), line=row.line)
        writer.finish(skipped=source.bad_rows.sentence())

    def build_model(self) -> nn.Module:
        return build_classifier(self.recipe.model, embedding=self.inputs.embedding, num_classes=len(self.labels), num_features=self.inputs.width)

    def collate(self, split: str, rows: Indices) -> Batch:
        store = self.stores[split]
        inputs, is_token = pad([store[row] for row in rows], value=self.inputs.pad_value, to_length=self.recipe.training.pad_to)
        targets = torch.from_numpy(store.targets[rows].astype(np.int64))
        return Batch(inputs=inputs, is_token=is_token, targets=targets, rows=torch.from_numpy(rows))

    def loss(self, model: nn.Module, batch: Batch, carry: Carry) -> BatchLoss:
        logits = model(batch.inputs, batch.is_token)  # (batch, classes)
        total = class_cross_entropy(logits, batch.targets, smoothing=self.recipe.training.label_smoothing)
        if self.teacher is not None:
            total = self.teacher.mixed(total, logits, self.teacher.look(batch.inputs, batch.is_token))
        correct = int((logits.argmax(dim=-1) == batch.targets).sum())
        return BatchLoss(total=total, count=len(batch.targets), correct=correct, carry=carry)

    def validate(self, model: nn.Module) -> Validation:
        answers = self.answers(model, "valid")
        score = accuracy(answers.targets, answers.predicted)
        return Validation(score, higher_is_better=True, facts={"valid_accuracy": score, "valid_loss": float(answers.nats.mean())})

    @torch.inference_mode()
    def answers(self, model: nn.Module, split: str) -> Answers:
        """Ask the model about every example of a split."""
        store = self.stores[split]
        log_probs = np.empty((len(store), len(self.labels)), np.float32)
        device = next(model.parameters()).device
        for batch in self.all_batches(split):
            logits = model(batch.inputs.to(device), batch.is_token.to(device))
            log_probs[batch.rows.numpy()] = logits.float().log_softmax(dim=-1).cpu().numpy()
        return Answers(store.targets.astype(np.int64), log_probs)

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        answers = self.answers(model, split)
        name, baseline = self._baseline(split)
        details = {
            **describe(answers, self.labels.names),
            "majority_accuracy": self._majority_accuracy(answers),
            "mean_of_batch_accuracies": mean_of_batch_accuracies(answers.correct, batch_size=self.recipe.training.batch_size or EVALUATION_BATCH),
            "most_wrong": self._most_wrong(split, answers),
        }
        return Evaluation(split, score(answers, baseline=baseline, baseline_name=name), details)

    def _majority_accuracy(self, answers: Answers) -> float | None:
        if "train" not in self.stores:
            return None
        majority = Majority.fit(self.stores["train"].targets.tolist(), num_classes=len(self.labels))
        return accuracy(answers.targets, majority.predict(len(answers.targets)))

    def _baseline(self, split: str) -> tuple[str, NDArray[np.int64] | None]:
        """Predictions of the best naive model for this kind of input, learned from the training split."""
        if "train" not in self.stores:
            return "", None
        train, store = self.stores["train"], self.stores[split]
        examples = ((train[row], int(train.targets[row])) for row in range(len(train)))
        questions = (store[row] for row in range(len(store)))
        if isinstance(self.inputs, TextInputs):
            bayes = NaiveBayes.fit(examples, vocabulary_size=len(self.inputs.tokenizer.vocabulary), num_classes=len(self.labels))
            return "naive Bayes", bayes.predict(questions)
        return "nearest class mean", NearestMean.fit(examples, num_classes=len(self.labels)).predict(questions)

    def _most_wrong(self, split: str, answers: Answers) -> list[dict[str, Any]]:
        """The mistakes the model was surest of, with the text as it stands in the file."""
        worst = answers.surest_mistakes(MOST_WRONG)
        rows = self._rows_of(split, set(worst.tolist()))
        return [
            {
                "where": rows[place].where,
                "text": self._shown_input(rows[place]),
                "truth": self.labels.decode(int(answers.targets[place])),
                "predicted": self.labels.decode(int(answers.predicted[place])),
                "predicted_probability": float(np.exp(answers.log_probs[place].max())),
                "truth_probability": float(np.exp(-answers.nats[place])),
            }
            for place in worst.tolist()
        ]

    def _rows_of(self, split: str, wanted: set[int]) -> dict[int, Row]:
        return {number: row for number, row in enumerate(self.sources[split].rows()) if number in wanted} if wanted else {}

    def _shown_input(self, row: Row) -> str:
        value = row.values[self.inputs.column]
        return value[:2000] if isinstance(value, str) else f"{len(value)} steps of {self.inputs.width} numbers"

    @torch.inference_mode()
    def answer(self, model: nn.Module, rows: list[Row], *, top: int) -> Sequence[Prediction]:
        encoded = [steps for _, steps in self.inputs.encode(rows)]
        padded, is_token = pad(encoded, value=self.inputs.pad_value, to_length=self.recipe.training.pad_to)
        device = next(model.parameters()).device
        probabilities = model(padded.to(device), is_token.to(device)).float().softmax(dim=-1).cpu()  # (batch, classes)
        best = probabilities.topk(min(top, len(self.labels)), dim=-1)
        found = []
        for row, shares, ids in zip(rows, best.values.tolist(), best.indices.tolist(), strict=True):
            ranking = [(self.labels.decode(label_id), share) for label_id, share in zip(ids, shares, strict=True)]
            found.append(Prediction(self._shown_input(row), ranking[0][0], ranking[0][1], ranking))
        return found
