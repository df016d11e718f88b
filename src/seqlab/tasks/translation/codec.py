"""Encode both sides of a pair as token ids, and parse the target language of an input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from seqlab.core.errors import UsageError
from seqlab.models.settings.section import max_known_length, require_sequence_settings
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.excerpt import excerpt
from seqlab.tasks.inputs.text import text_input
from seqlab.tasks.inputs.tokens import pieces_of
from seqlab.tasks.seq2seq.codec import NO_LIMIT, Seq2SeqCodec
from seqlab.tasks.split import Split
from seqlab.tasks.translation.encoding import encode_pairs
from seqlab.tasks.translation.pair_tokens import PairTokens
from seqlab.tasks.translation.rows import PairRows


@dataclass(frozen=True)
class TranslationCodec(Seq2SeqCodec):
    """A tokenizer for each side, or one for both."""

    tokens: PairTokens

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        return cls._with_positions(recipe, PairTokens.fit(recipe, PairRows.of(recipe, train)))

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls._with_positions(recipe, PairTokens.load(folder))

    @classmethod
    def _with_positions(cls, recipe: Recipe, tokens: PairTokens) -> Self:
        longest = max_known_length(require_sequence_settings(recipe.model))
        return cls(recipe, tokens, max_positions=longest or NO_LIMIT)

    def save(self, folder: Path) -> None:
        self.tokens.save(folder)

    def encode_split(self, name: str, source: Source) -> Split:
        return encode_pairs(
            self.recipe,
            self.tokens,
            name,
            PairRows.of(self.recipe, source),
            max_positions=self.max_positions,
            cache_key=self.cache_key(),
        )

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return self.tokens.encode_sources(*self.split_languages(inputs))

    def encode_inputs(self, inputs: Sequence[Any]) -> list[Int[Tensor, " source"]]:
        return self.encode_texts(*self.split_languages(inputs))

    def encode_texts(
        self, texts: Sequence[str], languages: Sequence[str] = ()
    ) -> list[Int[Tensor, " source"]]:
        """Encode texts. languages: the target language of each text, for a multilingual model."""
        encoded = self.tokens.encode_sources(texts, languages)
        for text, ids in zip(texts, encoded, strict=True):
            if len(ids) > self.max_positions:
                raise UsageError(
                    f"the text has {len(ids)} tokens, but the model reads at most {self.max_positions}.",
                    where=repr(excerpt(text)),
                    cure="Split it into sentences.",
                )
        return [torch.from_numpy(ids.astype(np.int64)) for ids in encoded]

    def split_languages(self, inputs: Sequence[Any]) -> tuple[list[str], list[str]]:
        """Split inputs into texts and target languages; an input of a multilingual model starts with the
        language: `de: A dog runs.`
        """
        texts = [text_input(value, number) for number, value in enumerate(inputs, start=1)]
        if not self.recipe.data.language:
            return texts, []
        parts = [text.partition(":") for text in texts]
        for text, colon, _ in parts:
            if not colon:
                raise UsageError(
                    "the text does not start with its target language.",
                    where=repr(excerpt(text)),
                    cure='For example: "de: A dog runs."',
                )
        return [text.strip() for _, _, text in parts], [language.strip() for language, _, _ in parts]

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokens.source, steps)

    def example_input(self) -> str:
        tags = self.tokens.tags
        return f"{tags[0]}: some text" if tags else super().example_input()
