"""Convert words (or steps of numbers) and their tags to steps and tag ids, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import torch
from numpy.typing import NDArray

from seqlab.batches.batch import Batch, pad
from seqlab.batches.cache import cached_store
from seqlab.batches.samplers import Indices
from seqlab.core.errors import DataError
from seqlab.metrics.spans import TaggingScheme, detect_scheme
from seqlab.models.settings.section import max_known_length
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Row, Source
from seqlab.sources.views.subsample import undrawn
from seqlab.tasks.codec import Codec
from seqlab.tasks.excerpt import excerpt
from seqlab.tasks.inputs.base import digest_of
from seqlab.tasks.inputs.numeric import NUMERIC
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.labeled.whole_sequence_codec import LABELS
from seqlab.tasks.tagging.encode_rows import NO_TAG, LengthLimits, encode_rows
from seqlab.tasks.tagging.inputs import FrameInputs, TaggedInputs
from seqlab.tasks.tagging.rows import TaggedRows
from seqlab.tasks.tagging.word_inputs import WordInputs
from seqlab.tokens.labels import Labels
from seqlab.tokens.words import Words


@dataclass(frozen=True, kw_only=True)
class TaggedSplit(LabeledSplit):
    """Sequences with a tag for every word. Long sequences of the training split may be stored in pieces."""

    rows: TaggedRows


@dataclass(frozen=True)
class TaggingCodec(Codec):
    """One tag id for every word."""

    inputs: TaggedInputs
    labels: Labels

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        """Fit the inputs, and the tags on all training rows, including those that a subsample leaves out."""
        rows = TaggedRows.of(recipe, train)
        labels = _fit_labels(recipe, undrawn(train))
        inputs = FrameInputs if STEPS in rows.columns else WordInputs
        return cls(recipe, inputs.fit(recipe, rows), labels)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        inputs = FrameInputs.load(folder) if (folder / NUMERIC).is_file() else WordInputs.load(recipe, folder)
        return cls(recipe, inputs, Labels.load(folder / LABELS))

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.inputs.save(folder)
        self.labels.save(folder / LABELS)

    @cached_property
    def scheme(self) -> TaggingScheme | None:
        """The tagging scheme of the spans; None if the tags do not mark spans."""
        return detect_scheme(self.labels.names)

    @property
    def tags_words(self) -> bool:
        """Whether words are tagged, rather than steps of numbers."""
        return isinstance(self.inputs, WordInputs)

    def label_names(self) -> list[str]:
        return list(self.labels.names)

    def encode_split(self, name: str, source: Source) -> TaggedSplit:
        """Encode a split. Long sequences of the split `train` are stored in pieces; other splits are kept
        whole.
        """
        rows = TaggedRows.of(self.recipe, source)
        limits = self._limits(name)
        made_from = {
            **self.cache_key(),
            "inputs": digest_of(self.inputs.save),
            "labels": self.labels.names,
            "longest_piece": limits.piece,
            "longest_known": limits.positions,
        }
        store = cached_store(made_from, lambda folder: self._write(rows, folder, limits), source=rows)
        notes = tuple(note for fact in ("skipped", "rules", "pieces") if (note := store.facts[fact]))
        steps = store[self.inputs.step_column.name]
        return TaggedSplit(
            name=name, rows=rows, store=store, notes=notes, steps=steps, input_column=self.inputs.column
        )

    def _limits(self, name: str) -> LengthLimits:
        positions = max_known_length(self.recipe.model) or 0
        sizes = [size for size in (self.recipe.data.max_length, positions) if size and name == "train"]
        return LengthLimits(piece=min(sizes, default=0), positions=positions)

    def _write(self, rows: TaggedRows, folder: Path, limits: LengthLimits) -> None:
        encode_rows(rows, folder, inputs=self.inputs, labels=self.labels, scheme=self.scheme, limits=limits)

    def collate(self, split: TaggedSplit, rows: Indices) -> Batch:
        """Build a batch from some examples of a split."""
        steps, tags, to_length = split.steps, split.store["tags"], self.recipe.training.pad_to
        inputs, is_token = self.inputs.padded([steps[row] for row in rows], to_length=to_length)
        targets, _ = pad([tags[row] for row in rows], value=NO_TAG, to_length=to_length)
        return Batch(inputs=inputs, is_token=is_token, targets={"tags": targets}, rows=torch.from_numpy(rows))

    def input_rows(self, inputs: Sequence[Any]) -> list[Row]:
        """Return inputs that do not come from a file as rows. A text is split into words and punctuation; a
        list of words or steps is kept unchanged.
        """
        sequences = [Words.words_of(value) if isinstance(value, str) else list(value) for value in inputs]
        return [self.inputs.row(sequence, number) for number, sequence in enumerate(sequences, start=1)]

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return [steps for _, steps in self.inputs.encode(self.input_rows(inputs))]

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return self.inputs.pieces(steps)


def _fit_labels(recipe: Recipe, train: Source) -> Labels:
    rows = TaggedRows.of(recipe, train)
    tags = (tag for row in rows.rows() for tag in rows.pairs(row)[1])
    labels = Labels.fit(tags, most=recipe.data.max_labels, where=train.name)
    if len(labels) < 2:
        raise DataError(
            f"every word has the same tag '{excerpt(labels.names[0])}'.",
            where=train.name,
            cure=(
                f"A tagger needs at least two tags; is '{recipe.data.label}' the tag column? Set data.label=NAME"
                " to change it."
            ),
        )
    return labels
