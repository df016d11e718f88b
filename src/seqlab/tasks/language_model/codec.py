"""Text of a language model: one stream of tokens, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from seqlab.batches.cache import cached_store
from seqlab.batches.columns import StepColumn, smallest_dtype
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import DataError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.codec import Codec
from seqlab.tasks.inputs.base import digest_of
from seqlab.tasks.inputs.tokens import encode_texts, fit_tokenizer, pieces_of
from seqlab.tasks.language_model.spec import LanguageModelSettings
from seqlab.tasks.split import Split
from seqlab.tasks.text.documents import has_documents, in_chunks, read_texts
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS, PAD, UNK


@dataclass(frozen=True)
class LanguageModelCodec(Codec):
    """A tokenizer whose vocabulary has an end token."""

    tokenizer: Tokenizer

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        return cls(recipe, fit_tokenizer(recipe, read_texts(train, recipe), specials=[UNK, PAD, EOS]))

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_tokenizer(folder))

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder)

    @property
    def vocabulary_size(self) -> int:
        return len(self.tokenizer.vocabulary)

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
        made_from = {
            **self.cache_key(),
            "source": source.fingerprint(),
            "column": self.recipe.data.text,
            "tokenizer": digest_of(self.save),
        }
        store = cached_store(made_from, lambda folder: self._write(source, folder))
        num_tokens = store["tokens"].num_steps
        needed = self.recipe.section(LanguageModelSettings).window + 1 if name == "train" else 2
        if num_tokens < needed:
            raise DataError(
                f"only {num_tokens} tokens, a window needs {needed}.",
                where=source.name,
                cure="Give more text, or lower language_model.window.",
            )
        return Split(name, source, store)

    def _write(self, source: Source, folder: Path) -> None:
        """One stream: the text unchanged, or the documents of a table with an end token after each."""
        writer = StoreWriter(folder, [StepColumn("tokens", smallest_dtype(self.vocabulary_size))])
        end = np.array([self.end_id], np.int32)
        characters = 0
        for texts in in_chunks(read_texts(source, self.recipe)):
            characters += sum(map(len, texts))
            for ids in self.tokenizer.encode_many(texts):
                writer.extend(tokens=ids)
                if has_documents(source, self.recipe):
                    writer.extend(tokens=end)
                    characters += 1  # the line end that the end token replaces
        writer.end_sequence()
        writer.finish(characters=characters)

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return encode_texts(self.tokenizer, inputs, self.recipe.model)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokenizer, steps)
