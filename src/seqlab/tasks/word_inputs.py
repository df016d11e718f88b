"""Sentences that are lists of words already -> ids, with the piece of each word that answers for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.store import smallest_dtype
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.word_lists import words_of
from seqlab.tasks.inputs import EMBEDDING_STD, ROWS_AT_ONCE, Inputs, learn_tokenizer, pieces_of
from seqlab.tokens.base import Ids, Tokenizer
from seqlab.tokens.saving import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import PAD, UNK


class WordInputs(Inputs):
    """A word is one token where tokens are words, else several pieces.

    The last piece of a word answers for it: there even a network that only looks back has read the whole word. Words are encoded one by
    one, each but the first with the blank before it, so that a token never reaches over two of them.
    """

    width = 0

    def __init__(self, tokenizer: Tokenizer, *, column: str) -> None:
        self.tokenizer = tokenizer
        self.column = column
        self.pad_value = tokenizer.vocabulary.pad_id
        self.dtype = smallest_dtype(len(tokenizer.vocabulary))
        self._nothing_known = np.array([tokenizer.vocabulary.id(UNK)], np.int32)
        self._before, self._after = _template(tokenizer)

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> WordInputs:
        texts = (" ".join(map(_whole, words_of(row, recipe.data.text))) for row in train.rows())
        return cls(learn_tokenizer(recipe, texts, specials=[UNK, PAD]), column=recipe.data.text)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> WordInputs:
        return cls(load_tokenizer(folder), column=recipe.data.text)

    def encode(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        return ((row, ids) for row, ids, _ in self.encode_words(rows))

    def encode_words(self, rows: Iterable[Row]) -> Iterator[tuple[Row, Ids, NDArray[np.int64]]]:
        """Rows with their ids and, for each word, the place of the id that answers for it."""
        remaining = iter(rows)
        while chunk := list(islice(remaining, ROWS_AT_ONCE)):
            sentences = [_with_blanks(words_of(row, self.column)) for row in chunk]
            known = self._pieces({word for sentence in sentences for word in sentence})
            for row, sentence in zip(chunk, sentences, strict=True):
                pieces = [known[word] for word in sentence]
                ends = np.cumsum([len(ids) for ids in pieces]) + len(self._before) - 1
                yield row, np.concatenate([self._before, *pieces, self._after]), ends

    def _pieces(self, words: set[str]) -> dict[str, Ids]:
        ordered = sorted(words)
        start, end = len(self._before), len(self._after)
        encoded = [ids[start : len(ids) - end] for ids in self.tokenizer.encode_many(ordered)]
        return {word: ids if len(ids) else self._nothing_known for word, ids in zip(ordered, encoded, strict=True)}

    def embedding(self, hidden_size: int) -> nn.Module:
        return TokenEmbedding(len(self.tokenizer.vocabulary), hidden_size, pad_id=self.pad_value, std=EMBEDDING_STD)

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokenizer, steps)


def _whole(word: str) -> str:
    """A word with blanks inside (1 000) must not fall apart."""
    return "_".join(word.split())


def _with_blanks(words: Sequence[str]) -> list[str]:
    return [_whole(word) if place == 0 else f" {_whole(word)}" for place, word in enumerate(words)]


def _template(tokenizer: Tokenizer) -> tuple[Ids, Ids]:
    """What a published tokenizer puts before and behind every text: [CLS] and [SEP]. Others put nothing."""
    nothing, letter = tokenizer.encode(""), tokenizer.encode("a")
    before = next((place for place in range(len(nothing)) if nothing[place] != letter[place]), len(nothing))
    return nothing[:before], nothing[before:]
