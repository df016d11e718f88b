"""The codec of tasks on plain text: a tokenizer, and a store of its tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from seqlab.batches.cache import cached_store
from seqlab.batches.store import Store
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.codec import Codec
from seqlab.tasks.inputs.base import digest_of
from seqlab.tasks.inputs.tokens import encode_texts, fit_tokenizer, pieces_of
from seqlab.tasks.text.documents import read_texts
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer


@dataclass(frozen=True)
class TextCodec(Codec):
    """A tokenizer whose vocabulary has the special tokens of the task."""

    tokenizer: Tokenizer

    special_tokens: ClassVar[tuple[str, ...]]

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        texts = read_texts(train, recipe)
        return cls(recipe, fit_tokenizer(recipe, texts, specials=list(cls.special_tokens)))

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_tokenizer(folder))

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder)

    @property
    def vocabulary_size(self) -> int:
        return len(self.tokenizer.vocabulary)

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return encode_texts(self.tokenizer, inputs, self.recipe.model)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokenizer, steps)

    def open_store(self, source: Source) -> Store:
        """Open the tokens of a source, which are encoded unless they are cached."""
        made_from = {
            **self.cache_key(),
            "column": self.recipe.data.text,
            "tokenizer": digest_of(self.save),
        }
        return cached_store(made_from, lambda folder: self.write_store(source, folder), source=source)

    @abstractmethod
    def write_store(self, source: Source, folder: Path) -> None:
        """Encode a source into a store with the column `tokens`."""
