"""Give every word of a sentence one tag: parts of speech, names, chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.baselines.most_frequent_tag import MostFrequentTag
from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.padding import pad
from seqlab.batches.plans import Indices
from seqlab.batches.store import StoreWriter
from seqlab.core.errors import DataError
from seqlab.losses.cross_entropy import token_cross_entropy
from seqlab.metrics.classification import accuracy
from seqlab.models.settings import RecurrentSettings
from seqlab.models.tagger import build_tagger
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.word_lists import words_of
from seqlab.tasks.answers import Answers, describe
from seqlab.tasks.base import ENCODING, Evaluation, Prediction, shown, tasks
from seqlab.tasks.inputs import digest_of
from seqlab.tasks.labelled_sequences import LabelledSequences
from seqlab.tasks.tag_answers import NaiveTags, TagAnswers, score
from seqlab.tasks.tagged_rows import TaggedRows
from seqlab.tasks.word_inputs import WordInputs
from seqlab.tokens.labels import Labels
from seqlab.tokens.words import Words
from seqlab.training.base import BatchLoss, Carry, Validation

NO_TAG = -1
"""The target of a step that answers for no word: padding, and all pieces of a word but the last."""
WORD_KINDS = ("words", "whitespace")
MOST_WRONG, CONTEXT = 25, 8
"""Mistakes in the report, and words shown on either side of each."""


@dataclass(frozen=True)
class TaggedSentence(Prediction):
    """A sentence with its likeliest tags. `ranking` goes word by word; `probability` is that of all tags together."""

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@tasks.register("tagging")
class Tagging(LabelledSequences):
    """Reads tagged sentences, learns to tag words by what stands around them, and says how well."""

    inputs: WordInputs
    sources: dict[str, TaggedRows]  # type: ignore[assignment] # every source of this task has been checked

    @classmethod
    def complete(cls, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        reasons = []
        if not recipe.tokens.kind:
            recipe = recipe.changed("tokens", kind="whitespace")
            reasons.append("a token is a word; pieces of words: tokens.kind=wordpiece")
        if recipe.tokens.kind in WORD_KINDS and not recipe.start.run and "min_count" not in recipe.tokens.model_fields_set:
            recipe = recipe.changed("tokens", min_count=2)
            reasons.append("words seen once count as unknown, so that the model learns to tag unknown words; other counts: tokens.min_count=NUMBER")
        if "model" not in recipe.model_fields_set:
            recipe = recipe.model_copy(update={"model": RecurrentSettings(bidirectional=True, hidden_size=128, dropout=0.4)})
            reasons.append("a bidirectional recurrent model; another: --model NAME")
        recipe = recipe.with_defaults("training", learning_rate=3e-3)
        if not recipe.training.batch_size:
            recipe = recipe.changed("training", batch_size=32)
        return recipe, reasons

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        checked = _checked(recipe, train)
        labels = Labels.fit(tag for row in checked.rows() for tag in checked.pairs(row)[1])
        if len(labels) < 2:
            raise DataError(
                f"every word has the same tag '{shown(labels.names[0])}'.",
                where=train.name,
                cure=f"A tagger needs at least two tags; is '{recipe.data.label}' the column of tags? Another: data.label=NAME",
            )
        return cls(recipe, WordInputs.learn(recipe, checked), labels)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, WordInputs.load(recipe, folder), Labels.load(folder / "labels.json"))

    def attach(self, split: str, source: Source) -> None:
        checked = _checked(self.recipe, source)
        longest = self.recipe.data.max_length if split == "train" else 0  # what is scored is read whole
        made_from = {
            "task": "tagging",
            "encoding": ENCODING,
            "source": checked.fingerprint(),
            "inputs": digest_of(self.inputs.save),
            "labels": self.labels.names,
            "max_length": longest,
        }
        self.sources[split] = checked
        self.stores[split] = cached_store(made_from, lambda folder: self._write(checked, folder, longest))
        if skipped := self.stores[split].facts["skipped"]:
            self.notes.append(f"{split}: {skipped}")

    def _write(self, source: TaggedRows, folder: Path, longest: int) -> None:
        """Steps of two numbers: the id, and the tag it answers with."""
        writer = StoreWriter(folder, dtype=np.dtype(np.int32), width=2)
        for row, ids, places in self.inputs.encode_words(source.rows()):
            tags = np.full(len(ids), NO_TAG, np.int32)
            tags[places] = self._tag_ids(source, row)
            writer.append(np.stack([ids, tags], axis=1)[: longest or None], line=row.line)
        writer.finish(skipped=source.bad_rows.sentence())

    def _tag_ids(self, source: TaggedRows, row: Row) -> list[int]:
        return [self.labels.encode(tag, where=row.where) for tag in source.pairs(row)[1]]

    def build_model(self) -> nn.Module:
        return build_tagger(self.recipe.model, embedding=self.inputs.embedding, num_tags=len(self.labels))

    def collate(self, split: str, rows: Indices) -> Batch:
        sentences = [self.stores[split][row] for row in rows]  # (time, 2) each
        to_length = self.recipe.training.pad_to
        inputs, is_token = pad([steps[:, 0] for steps in sentences], value=self.inputs.pad_value, to_length=to_length)
        targets, _ = pad([steps[:, 1] for steps in sentences], value=NO_TAG, to_length=to_length)
        return Batch(inputs=inputs, is_token=is_token, targets=targets, rows=torch.from_numpy(rows))

    def loss(self, model: nn.Module, batch: Batch, carry: Carry) -> BatchLoss:
        logits, is_target = model(batch.inputs, batch.is_token), batch.targets != NO_TAG  # (batch, time, tags), (batch, time)
        total = token_cross_entropy(logits, batch.targets, is_target, smoothing=self.recipe.training.label_smoothing)
        if self.teacher is not None:
            total = self.teacher.mixed(total, logits[is_target], self.teacher.look(batch.inputs, batch.is_token)[is_target])
        correct = int((logits.argmax(dim=-1) == batch.targets).sum())  # no class is NO_TAG
        return BatchLoss(total=total, count=int(is_target.sum()), correct=correct, carry=carry)

    def validate(self, model: nn.Module) -> Validation:
        words = self.answers(model, "valid").words
        value = accuracy(words.targets, words.predicted)
        return Validation(value, higher_is_better=True, facts={"valid_accuracy": value, "valid_loss": float(words.nats.mean())})

    @torch.inference_mode()
    def answers(self, model: nn.Module, split: str) -> TagAnswers:
        """Ask the model about every word of a split."""
        store = self.stores[split]
        steps = np.asarray(store.values)  # (all steps, 2)
        is_target = steps[:, 1] != NO_TAG
        places = np.cumsum(is_target) - 1  # of every step, among the words
        log_probs = np.empty((int(is_target.sum()), len(self.labels)), np.float32)
        for batch in self.all_batches(split):
            found = self._log_probs(model, batch)
            for row, own in zip(batch.rows.tolist(), found, strict=True):
                first = places[store.offsets[row] : store.offsets[row + 1]][is_target[store.offsets[row] : store.offsets[row + 1]]]
                log_probs[first] = own
        sentences = np.repeat(np.arange(len(store)), store.lengths)[is_target]
        return TagAnswers(Answers(steps[is_target, 1].astype(np.int64), log_probs), sentences)

    def _log_probs(self, model: nn.Module, batch: Batch) -> list[NDArray[np.float32]]:
        """For each sentence of a batch: (words, tags)."""
        device = next(model.parameters()).device
        logits = model(batch.inputs.to(device), batch.is_token.to(device)).float().log_softmax(dim=-1).cpu()
        return [logits[place][targets != NO_TAG].numpy() for place, targets in enumerate(batch.targets)]

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        answers = self.answers(model, split)
        naive = self._naive_tags(split) if "train" in self.stores else None
        details = {
            **describe(answers.words, self.labels.names),
            "sentences": len(self.stores[split]),
            "unseen_words": None if naive is None else int((~naive.is_seen).sum()),
            "most_wrong": self._most_wrong(split, answers),
        }
        return Evaluation(split, score(answers, naive), details)

    @cached_property
    def _baseline(self) -> MostFrequentTag:
        source = self.sources["train"]
        return MostFrequentTag.fit((source.pairs(row)[0], self._tag_ids(source, row)) for row in source.rows())

    def _naive_tags(self, split: str) -> NaiveTags:
        sentences = [words_of(row, self.inputs.column) for row in self.sources[split].rows()]
        predicted = [tag for words in sentences for tag in self._baseline.predict(words)]
        return NaiveTags(np.array(predicted), np.array([self._baseline.has_seen(word) for words in sentences for word in words]))

    def _most_wrong(self, split: str, answers: TagAnswers) -> list[dict[str, Any]]:
        """The mistakes the model was surest of, each word in square brackets among its neighbours."""
        words = answers.words
        worst = words.surest_mistakes(MOST_WRONG).tolist()
        wanted = {int(answers.sentences[place]) for place in worst}
        rows = {number: row for number, row in enumerate(self.sources[split].rows()) if number in wanted}
        starts = np.searchsorted(answers.sentences, np.arange(len(self.stores[split])))
        found = []
        for place in worst:
            row = rows[int(answers.sentences[place])]
            found.append(
                {
                    "where": row.where,
                    "text": _in_context(words_of(row, self.inputs.column), place - int(starts[answers.sentences[place]])),
                    "truth": self.labels.decode(int(words.targets[place])),
                    "predicted": self.labels.decode(int(words.predicted[place])),
                    "predicted_probability": float(np.exp(words.log_probs[place].max())),
                    "truth_probability": float(np.exp(-words.nats[place])),
                }
            )
        return found

    def questions(self, inputs: Sequence[Any]) -> list[Row]:
        """A text is cut into words and marks, as a reader would; a list of words is taken as it is."""
        words = [Words.words_of(value) if isinstance(value, str) else list(value) for value in inputs]
        return super().questions(words)

    @torch.inference_mode()
    def answer(self, model: nn.Module, rows: list[Row], *, top: int) -> Sequence[Prediction]:
        filled = [row for row in rows if row.values[self.inputs.column]]
        tagged = iter(self._tag(model, filled) if filled else ())
        return [next(tagged) if row.values[self.inputs.column] else TaggedSentence("", "", 1.0, []) for row in rows]

    def _tag(self, model: nn.Module, rows: list[Row]) -> Iterator[TaggedSentence]:
        encoded = list(self.inputs.encode_words(rows))
        padded, is_token = pad([ids for _, ids, _ in encoded], value=self.inputs.pad_value, to_length=self.recipe.training.pad_to)
        device = next(model.parameters()).device
        probs: Tensor = model(padded.to(device), is_token.to(device)).float().softmax(dim=-1).cpu()  # (batch, time, tags)
        for sentence, (row, _, places) in zip(probs, encoded, strict=True):
            best = sentence[torch.from_numpy(places)].max(dim=-1)  # (words,) each
            words, shares = words_of(row, self.inputs.column), best.values.tolist()
            tags = [self.labels.decode(tag) for tag in best.indices.tolist()]
            pairs = [f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)]
            ranking = list(zip(pairs, shares, strict=True))
            yield TaggedSentence(" ".join(words), " ".join(pairs), float(np.prod(shares)), ranking, tuple(words), tuple(tags))


def _checked(recipe: Recipe, source: Source) -> TaggedRows:
    return TaggedRows(source, words=recipe.data.text, tags=recipe.data.label)


def _in_context(words: Sequence[str], place: int) -> str:
    """The word at a place in square brackets, with some words on either side.

    >>> _in_context(["the", "old", "man", "the", "boats"], 2)
    'the old [man] the boats'
    """
    start = max(0, place - CONTEXT)
    shown_words = [f"[{word}]" if number == place else word for number, word in enumerate(words)][start : place + CONTEXT + 1]
    return " ".join([*(["…"] if start else []), *shown_words, *(["…"] if place + CONTEXT + 1 < len(words) else [])])
