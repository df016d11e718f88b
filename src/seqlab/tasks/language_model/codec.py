"""Convert text to one stream of tokens, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from seqlab.batches.columns import StepColumn, smallest_dtype
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import DataError
from seqlab.sources.base import Source
from seqlab.tasks.language_model.spec import LanguageModelSettings
from seqlab.tasks.split import Split
from seqlab.tasks.text.codec import TextCodec
from seqlab.tasks.text.documents import has_documents, in_chunks, read_texts
from seqlab.tokens.vocabulary import EOS, PAD, UNK


@dataclass(frozen=True)
class LanguageModelCodec(TextCodec):
    """A tokenizer whose vocabulary has an end token."""

    special_tokens = (UNK, PAD, EOS)

    @cached_property
    def end_id(self) -> int:
        """The token after every document."""
        return self.tokenizer.vocabulary.ids[EOS]

    @cached_property
    def suppressed_ids(self) -> list[int]:
        """Tokens that are never generated."""
        ids = self.tokenizer.vocabulary.ids
        return [ids[name] for name in (UNK, PAD) if name in ids]

    def encode_split(self, name: str, source: Source) -> Split:
        store = self.open_store(source)
        num_tokens = store["tokens"].num_steps
        needed = self.recipe.section(LanguageModelSettings).window + 1 if name == "train" else 2
        if num_tokens < needed:
            raise DataError(
                f"the text has only {num_tokens} tokens, but a window needs {needed}.",
                where=source.name,
                cure="Use more text, or lower language_model.window.",
            )
        return Split(name, source, store)

    def write_store(self, source: Source, folder: Path) -> None:
        """Write one stream: the text unchanged, or the documents of a table with an end token after each."""
        writer = StoreWriter(folder, [StepColumn("tokens", smallest_dtype(self.vocabulary_size))])
        end = np.array([self.end_id], np.int32)
        characters = 0
        for texts in in_chunks(read_texts(source, self.recipe)):
            characters += sum(map(len, texts))
            for ids in self.tokenizer.encode_many(texts):
                writer.extend(tokens=ids)
                if has_documents(source, self.recipe):
                    writer.extend(tokens=end)
                    characters += 1  # the line break that the end token replaces
        writer.end_sequence()
        writer.finish(characters=characters)
