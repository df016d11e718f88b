"""Convert text to sequences of tokens for a masked language model, and back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from seqlab.batches.columns import StepColumn, smallest_dtype
from seqlab.batches.store_writer import StoreWriter
from seqlab.batches.windows import Spans
from seqlab.core.errors import DataError
from seqlab.sources.base import Source, TextSource
from seqlab.tasks.masked_language_model.spec import MaskedLanguageModelSettings
from seqlab.tasks.split import Split
from seqlab.tasks.text.codec import TextCodec
from seqlab.tasks.text.documents import has_documents, in_chunks, read_texts
from seqlab.tokens.vocabulary import EOS, MASK, PAD, UNK
from seqlab.tokens.word_boundaries import WordBorders


@dataclass(frozen=True)
class MaskedSplit(Split):
    """A stream of tokens, split into the sequences that the network reads."""

    spans: Spans = field(kw_only=True)
    """Every sequence: a window, or a shorter document, with a token that can be masked."""


@dataclass(frozen=True)
class MaskedLanguageModelCodec(TextCodec):
    """A tokenizer whose vocabulary has a mask token."""

    special_tokens = (UNK, PAD, EOS, MASK)

    @property
    def mask_id(self) -> int:
        return self.tokenizer.vocabulary.ids[MASK]

    @cached_property
    def is_ordinary(self) -> Bool[np.ndarray, " vocab"]:
        """Which tokens may be masked and predicted: all but the special ones."""
        is_ordinary = np.ones(self.vocabulary_size, np.bool_)
        is_ordinary[list(self.tokenizer.vocabulary.special_ids)] = False
        return is_ordinary

    @cached_property
    def word_borders(self) -> WordBorders | None:
        """The word boundaries, if whole words are masked."""
        return (
            WordBorders.of(self.tokenizer)
            if self.recipe.section(MaskedLanguageModelSettings).whole_word_mask
            else None
        )

    def encode_split(self, name: str, source: Source) -> MaskedSplit:
        store = self.open_store(source)
        tokens = store["tokens"]
        windows = Spans.cut(tokens.offsets, window=self.recipe.section(MaskedLanguageModelSettings).window)
        spans = windows.with_any(tokens.values, self.is_ordinary)
        if not len(spans):
            raise DataError(
                "there are no tokens to mask.",
                where=source.name,
                cure="Use text with known words.",
            )
        return MaskedSplit(name, source, store, spans=spans)

    def write_store(self, source: Source, folder: Path) -> None:
        """Write a text as one sequence, and every document of a table as its own; documents and lines of
        words end with an end token.
        """
        writer = StoreWriter(folder, [StepColumn("tokens", smallest_dtype(self.vocabulary_size))])
        end = np.array([self.tokenizer.vocabulary.ids[EOS]], np.int32)
        is_text = isinstance(source, TextSource)
        for texts in in_chunks(read_texts(source, self.recipe)):
            for ids in self.tokenizer.encode_many(texts):
                writer.extend(tokens=ids)
                if has_documents(source, self.recipe):
                    writer.extend(tokens=end)
                if not is_text:
                    writer.end_sequence()
        if is_text:
            writer.end_sequence()
        writer.finish()
