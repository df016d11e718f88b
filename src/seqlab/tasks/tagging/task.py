"""Give every word of a sentence one tag: parts of speech, names, chunks; or every step of a numeric
sequence.
"""

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

from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.columns import SequenceColumn, StepColumn
from seqlab.batches.padding import pad
from seqlab.batches.samplers import Indices
from seqlab.batches.store_writer import StoreWriter
from seqlab.blocks.words_first import words_first
from seqlab.core.errors import DataError
from seqlab.losses.tag_loss import TagLoss
from seqlab.metrics.classification import accuracy
from seqlab.metrics.spans import TaggingScheme, compare_spans, detect_scheme, extract_spans
from seqlab.models.settings import max_known_length
from seqlab.models.tagger import build_tagger
from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.examples import MostWrong
from seqlab.pages.sections.facts import Facts
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Row, Source
from seqlab.sources.views.subsample import undrawn
from seqlab.tasks.base import ENCODING, Evaluation, Prediction, shown
from seqlab.tasks.classification.predictions import Answers, class_sections
from seqlab.tasks.inputs import NUMERIC, digest_of
from seqlab.tasks.labeled.labeled_sequences import LabelledSequences
from seqlab.tasks.sections import sliced_scores
from seqlab.tasks.tagging.baseline import NaiveTagger, learn_naive_tagger
from seqlab.tasks.tagging.decisions import decide, log_probabilities
from seqlab.tasks.tagging.frame_inputs import FrameInputs
from seqlab.tasks.tagging.inputs import TaggedInputs
from seqlab.tasks.tagging.predictions import (
    NaiveTags,
    TagAnswers,
    items_of,
    score,
    slices_of,
    tags_by_sentence,
)
from seqlab.tasks.tagging.rows import TaggedRows
from seqlab.tasks.tagging.settings import TaggingSettings
from seqlab.tasks.tagging.span_scores import SpanRules, span_items, span_scores, span_sections
from seqlab.tasks.tagging.word_inputs import WordInputs
from seqlab.tokens.labels import Labels
from seqlab.tokens.words import Words
from seqlab.training.base import BatchLoss, Carry, Validation

NO_TAG = -1
"""The target of a step that answers for no word: padding, and all pieces of a word but the last."""
MOST_WRONG, CONTEXT = 25, 8
"""Mistakes in the report, and words shown on either side of each."""


@dataclass(frozen=True)
class MarkedSpan:
    """Some words of a sentence that their tags hold together, from word `first` to word `last`, counted from
    1.
    """

    type: str
    text: str
    first: int
    last: int


@dataclass(frozen=True)
class TaggedSentence(Prediction):
    """A sentence with its likeliest tags. `ranking` goes word by word; `probability` is the product of their
    probabilities.

    spans: where tags mark spans (BIO, IOBES, BILOU), those; else None.
    """

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    spans: tuple[MarkedSpan, ...] | None = None


class Tagging(LabelledSequences):
    """Reads tagged sentences, learns to tag words by what stands around them, and says how well."""

    inputs: TaggedInputs
    labels: Labels
    sources: dict[str, TaggedRows]  # type: ignore[assignment] # every source of this task has been checked

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        checked = TaggedRows.of(recipe, train)
        whole = TaggedRows.of(recipe, undrawn(train))
        labels = Labels.fit(tag for row in whole.rows() for tag in whole.pairs(row)[1])
        if len(labels) < 2:
            raise DataError(
                f"every word has the same tag '{shown(labels.names[0])}'.",
                where=train.name,
                cure=(
                    f"A tagger needs at least two tags; is '{recipe.data.label}' the column of tags? Another:"
                    " data.label=NAME"
                ),
            )
        inputs = (
            FrameInputs.learn(recipe, checked)
            if STEPS in checked.columns
            else WordInputs.learn(recipe, checked)
        )
        return cls(recipe, inputs, labels)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        inputs = FrameInputs.load(folder) if (folder / NUMERIC).is_file() else WordInputs.load(recipe, folder)
        return cls(recipe, inputs, Labels.load(folder / "labels.json"))

    @cached_property
    def scheme(self) -> TaggingScheme | None:
        """How the tags mark spans; None where they mark none."""
        return detect_scheme(self.labels.names)

    def attach(self, split: str, source: Source) -> None:
        checked = TaggedRows.of(self.recipe, source)
        known = max_known_length(self.recipe.model) or 0
        limits = [
            size for size in (self.recipe.data.max_length, known) if size and split == "train"
        ]  # what is scored is read whole
        longest = min(limits, default=0)
        made_from = {
            "task": "tagging",
            "encoding": ENCODING,
            "source": checked.fingerprint(),
            "inputs": digest_of(self.inputs.save),
            "labels": self.labels.names,
            "longest_piece": longest,
            "longest_known": known,
        }
        self.sources[split] = checked
        self.stores[split] = cached_store(
            made_from, lambda folder: self._write(checked, folder, longest, known)
        )
        facts = self.stores[split].facts
        self.notes += [
            f"{split}: {sentence}"
            for sentence in (facts["skipped"], facts["rules"], facts["pieces"])
            if sentence
        ]

    def _write(self, source: TaggedRows, folder: Path, longest: int, known: int) -> None:
        """The steps, and beside each the tag it answers with.

        longest: steps of a piece; 0 keeps sequences whole, which may then have no more steps than the
        network's positions know (0: any number).
        """
        count = in_pieces = 0
        columns = [
            self.inputs.step_column,
            StepColumn("tags", np.dtype(np.int32)),
            SequenceColumn("line", np.dtype(np.int64)),
        ]
        writer = StoreWriter(folder, columns)
        rules = None if self.scheme is None else SpanRules(self.scheme)
        for row, steps, places in self.inputs.encode_tagged(source.rows()):
            if not longest and 0 < known < len(steps):
                raise DataError(
                    f"a sequence of {len(steps):,} steps, but the model reads {known:,} at once.",
                    where=row.where,
                    cure=(
                        f"Part it or leave it out, or train with model.max_positions={len(steps)} or more, or"
                        " with model.positions=sinusoidal."
                    ),
                )
            tags = np.full(len(steps), NO_TAG, np.int32)
            names = source.pairs(row)[1]
            tags[places] = [self.labels.encode(tag, where=row.where) for tag in names]
            for piece in _pieces(tags, longest):
                writer.append(**{columns[0].name: steps[piece], "tags": tags[piece], "line": row.line})
            count, in_pieces = count + 1, in_pieces + (0 < longest < len(steps))
            if rules is not None:
                rules.look(names, where=row.where)
        whole = "a larger model.max_positions" if longest == known else "data.max_length=0"
        told = (
            f"{in_pieces:,} of {count:,} sequences are longer than {longest:,} steps and are learned in"
            f" pieces; whole: {whole}"
        )
        facts = {"rules": "" if rules is None else rules.sentence(), "pieces": told if in_pieces else ""}
        writer.finish(skipped=source.bad_rows.sentence(), **facts)

    def build_model(self) -> nn.Module:
        return build_tagger(
            self.recipe.model,
            embedding=self.inputs.embedding,
            num_tags=len(self.labels),
            crf=self.recipe.section(TaggingSettings).crf,
        )

    def collate(self, split: str, rows: Indices) -> Batch:
        steps, tags, to_length = self.steps(split), self.stores[split]["tags"], self.recipe.training.pad_to
        inputs, is_token = self.inputs.padded([steps[row] for row in rows], to_length=to_length)
        targets, _ = pad([tags[row] for row in rows], value=NO_TAG, to_length=to_length)
        return Batch(inputs=inputs, is_token=is_token, targets={"tags": targets}, rows=torch.from_numpy(rows))

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        is_word, soft_targets = batch["tags"] != NO_TAG, None  # (batch, time)
        if self.teacher is not None:
            taught = log_probabilities(
                self.teacher.model, self.teacher.look(batch.inputs, batch.is_token), is_word
            )  # (batch, words, tags)
            soft_targets = self.teacher.soft_targets(taught[words_first(is_word, is_word)])
        loss = TagLoss(batch["tags"], is_word, self.recipe.training.label_smoothing, soft_targets)
        value = model(batch.inputs, batch.is_token, loss=loss)
        return BatchLoss(total=value.total, count=int(is_word.sum()), correct=int(value.correct), carry=carry)

    def validate(self, model: nn.Module) -> Validation:
        answers = self.answers(model, "valid")
        words = answers.words
        value = accuracy(words.targets, words.predicted)
        facts = {"valid_accuracy": value, "valid_loss": float(words.nats.mean())}
        if self.scheme is not None:
            value = compare_spans(*self._tagged(answers)).overall.f1
            facts["valid_span_f1"] = value
        return Validation(value, higher_is_better=True, facts=facts)

    @torch.inference_mode()
    def answers(self, model: nn.Module, split: str) -> TagAnswers:
        """Ask the model about every word of a split."""
        tags = self.stores[split]["tags"]
        targets = tags.values.astype(np.int64)  # (all steps,)
        is_word = targets != NO_TAG
        before = np.concatenate([[0], np.cumsum(is_word)])[
            tags.offsets
        ]  # words before each sentence, and behind the last one
        log_probs = np.empty((before[-1], len(self.labels)), np.float32)
        decided = np.empty(before[-1], np.int64)
        device = next(model.parameters()).device
        for batch in self.all_batches(split):
            logits = model(batch.inputs.to(device), batch.is_token.to(device))
            for row, found in zip(
                batch.rows.tolist(), decide(model, logits, (batch["tags"] != NO_TAG).to(device)), strict=True
            ):
                own = slice(before[row], before[row + 1])
                log_probs[own], decided[own] = found.log_probs, found.tags
        sentences = np.repeat(np.arange(len(tags)), np.diff(before))
        return TagAnswers(Answers(targets[is_word], log_probs, decided), sentences)

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        answers = self.answers(model, split)
        naive = self._naive_tags(split) if "train" in self.stores else None
        noun = "word" if isinstance(self.inputs, WordInputs) else "step"
        truth, predicted = self._tagged(answers)
        scores, items = score(answers, naive, noun=noun), items_of(answers, naive)
        counts = {
            "examples": len(answers.words.targets),
            "sentences": len(self.stores[split]),
            "unseen_words": None if naive is None else int((~naive.is_seen).sum()),
        }
        sections: list[ReportSection] = [
            Facts(counts),
            *class_sections(answers.words, self.labels.names),
            MostWrong(self._most_wrong(split, answers)),
        ]
        if self.scheme is not None:
            found = compare_spans(truth, predicted)
            beside = (
                None
                if naive is None
                else compare_spans(truth, tags_by_sentence(answers, naive.predicted, self.labels.names))
            )
            scores = (
                span_scores(
                    found, beside, scheme=self.scheme, baseline_name="" if naive is None else naive.name
                )
                + scores
            )
            items |= span_items(found)
            sections += span_sections(truth, predicted, scheme=self.scheme)
        sections.append(sliced_scores(slices_of(answers, naive, noun=noun), scores))
        return Evaluation(split, scores, sections, items, answers=predicted, truths=truth)

    def _tagged(self, answers: TagAnswers) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """The right tags of every sentence by their names, and those that were given."""
        words, names = answers.words, self.labels.names
        return tags_by_sentence(answers, words.targets, names), tags_by_sentence(
            answers, words.predicted, names
        )

    @cached_property
    def _naive_tagger(self) -> NaiveTagger:
        source = self.sources["train"]
        pairs = (source.pairs(row) for row in source.rows())
        return learn_naive_tagger(
            ((words, [self.labels.encode(tag) for tag in tags]) for words, tags in pairs),
            num_tags=len(self.labels),
        )

    def _naive_tags(self, split: str) -> NaiveTags:
        source = self.sources[split]
        return self._naive_tagger.tag(source.pairs(row)[0] for row in source.rows())

    def _most_wrong(self, split: str, answers: TagAnswers) -> list[WrongExample]:
        """The mistakes the model was surest of, each word in square brackets among its neighbours."""
        words = answers.words
        worst = words.surest_mistakes(MOST_WRONG).tolist()
        wanted = {int(answers.sentences[place]) for place in worst}
        rows = {number: row for number, row in enumerate(self.sources[split].rows()) if number in wanted}
        starts = np.searchsorted(answers.sentences, np.arange(len(self.stores[split])))
        found = []
        for place in worst:
            row = rows[int(answers.sentences[place])]
            predicted = int(words.predicted[place])
            found.append(
                WrongExample(
                    where=row.where,
                    text=_in_context(
                        self.inputs.names_of(row), place - int(starts[answers.sentences[place]])
                    ),
                    truth=self.labels.decode(int(words.targets[place])),
                    predicted=self.labels.decode(predicted),
                    predicted_probability=float(np.exp(words.log_probs[place, predicted])),
                    truth_probability=float(np.exp(-words.nats[place])),
                )
            )
        return found

    def questions(self, inputs: Sequence[Any]) -> list[Row]:
        """A text is cut into words and marks, as a reader would; a list of words, or of steps, is taken as it
        is.
        """
        return super().questions(
            [Words.words_of(value) if isinstance(value, str) else list(value) for value in inputs]
        )

    @torch.inference_mode()
    def answer(self, model: nn.Module, rows: list[Row], *, top: int) -> Sequence[Prediction]:
        filled = [row for row in rows if row.values[self.inputs.column]]
        tagged = iter(self._tag(model, filled) if filled else ())
        nothing = TaggedSentence("", "", 1.0, [], spans=None if self.scheme is None else ())
        return [next(tagged) if row.values[self.inputs.column] else nothing for row in rows]

    def _tag(self, model: nn.Module, rows: list[Row]) -> Iterator[TaggedSentence]:
        encoded = list(self.inputs.encode_tagged(rows))
        inputs, is_token = self.inputs.padded(
            [steps for _, steps, _ in encoded], to_length=self.recipe.training.pad_to
        )
        is_word = torch.zeros_like(is_token)
        for sentence, (_, _, places) in zip(is_word, encoded, strict=True):
            sentence[torch.from_numpy(places)] = True
        device = next(model.parameters()).device
        logits: Tensor = model(inputs.to(device), is_token.to(device))  # (batch, time, tags)
        for row, found in zip(rows, decide(model, logits, is_word.to(device)), strict=True):
            words = self.inputs.names_of(row)
            shares = np.exp(found.log_probs[np.arange(len(words)), found.tags]).tolist()
            tags = [self.labels.decode(int(tag)) for tag in found.tags]
            pairs = [f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)]
            ranking = list(zip(pairs, shares, strict=True))
            spans = None if self.scheme is None else _marked(words, tags)
            yield TaggedSentence(
                " ".join(words),
                " ".join(pairs),
                float(np.prod(shares)),
                ranking,
                tuple(words),
                tuple(tags),
                spans,
            )


def _pieces(tags: NDArray[np.int32], longest: int) -> list[slice]:
    """Where a sequence is cut: after every `longest` steps. Pieces without a tagged word are left out.

    >>> _pieces(np.array([0, 1, NO_TAG, NO_TAG, 2], np.int32), 2)
    [slice(0, 2, None), slice(4, 6, None)]
    """
    size = longest or max(1, len(tags))
    pieces = [slice(start, start + size) for start in range(0, len(tags), size)]
    return [piece for piece in pieces if (tags[piece] != NO_TAG).any()]


def _marked(words: Sequence[str], tags: Sequence[str]) -> tuple[MarkedSpan, ...]:
    return tuple(
        MarkedSpan(span.type, " ".join(words[span.first : span.last + 1]), span.first + 1, span.last + 1)
        for span in extract_spans(tags)
    )


def _in_context(words: Sequence[str], place: int) -> str:
    """The word at a place in square brackets, with some words on either side.

    >>> _in_context(["the", "old", "man", "the", "boats"], 2)
    'the old [man] the boats'
    """
    start = max(0, place - CONTEXT)
    shown_words = [f"[{word}]" if number == place else word for number, word in enumerate(words)][
        start : place + CONTEXT + 1
    ]
    return " ".join(
        [*(["…"] if start else []), *shown_words, *(["…"] if place + CONTEXT + 1 < len(words) else [])]
    )
