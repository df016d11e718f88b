"""Encode sentences, given as lists of words, as ids and characters, with the piece of each word that
predicts its tag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int, Shaped
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.batches.batch import pad
from seqlab.batches.columns import smallest_dtype
from seqlab.blocks.character_encoder import CharacterCNN, CharacterEncoder, CharacterLSTM
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.blocks.word_embedding import WordCharacterEmbedding, word_drop_rates
from seqlab.core.errors import RecipeError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.word_lists import words_of
from seqlab.tasks.inputs.text import EMBEDDING_STD, ROWS_AT_ONCE
from seqlab.tasks.inputs.tokens import fit_tokenizer, known_tokens, pieces_of
from seqlab.tasks.tagging.inputs import TaggedInputs
from seqlab.tasks.tagging.settings import TaggingSettings
from seqlab.tokens.base import Ids, Tokenizer
from seqlab.tokens.spelling import Spelling
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import PAD, UNK

CHARACTERS = "characters.json"
"""The file with the known characters."""
NEVER = np.zeros(0, np.int64)
"""Replaces the training counts in a loaded run, which does not save them."""


class WordInputs(TaggedInputs):
    """Words as one token each, or as several pieces. With a spelling, each piece comes with the characters of its
    word.

    The last piece of a word predicts its tag, because there even a causal network has read the whole word.
    Words are encoded one by one, each but the first with the space before it, so that a token never spans
    two words.

    counts: the number of occurrences of each id in training; rare words are dropped more often.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        column: str,
        settings: TaggingSettings,
        spelling: Spelling | None = None,
        counts: Int[np.ndarray, " vocab"] = NEVER,
    ) -> None:
        self.tokenizer = tokenizer
        self.column = column
        self.settings = settings
        self.spelling = spelling
        self.width = 0 if spelling is None else 1 + spelling.longest
        self.pad_value = tokenizer.vocabulary.pad_id
        self.dtype = smallest_dtype(max(len(tokenizer.vocabulary), 0 if spelling is None else len(spelling)))
        self._counts = counts
        self._nothing_known = np.array([tokenizer.vocabulary.id(UNK)], np.int32)
        self._before, self._after = _template(tokenizer)

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> WordInputs:
        texts = (" ".join(map(_whole, words_of(row, recipe.data.text))) for row in train.rows())
        tokenizer = fit_tokenizer(recipe, texts, specials=[UNK, PAD])
        settings = recipe.section(TaggingSettings)
        if settings.characters == "none":
            return cls(tokenizer, column=recipe.data.text, settings=settings)
        words = Counter(
            word for row in train.rows() for word in _with_spaces(words_of(row, recipe.data.text))
        )
        spelling = _spelling(recipe, words)
        uncounted = cls(tokenizer, column=recipe.data.text, settings=settings, spelling=spelling)
        return cls(
            tokenizer,
            column=recipe.data.text,
            settings=settings,
            spelling=spelling,
            counts=uncounted._count(words),
        )

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> WordInputs:
        spelling = (
            Spelling.load(folder / CHARACTERS)
            if recipe.section(TaggingSettings).characters != "none"
            else None
        )
        return cls(
            load_tokenizer(folder),
            column=recipe.data.text,
            settings=recipe.section(TaggingSettings),
            spelling=spelling,
        )

    def encode_tagged(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any], NDArray[np.int64]]]:
        remaining = iter(rows)
        while chunk := list(islice(remaining, ROWS_AT_ONCE)):
            sentences = [_with_spaces(words_of(row, self.column)) for row in chunk]
            known = self._pieces({word for sentence in sentences for word in sentence})
            for row, sentence in zip(chunk, sentences, strict=True):
                pieces = [known[word] for word in sentence]
                lengths = [len(ids) for ids in pieces]
                ids = np.concatenate([self._before, *pieces, self._after])
                yield (
                    row,
                    self._with_characters(ids, sentence, lengths),
                    np.cumsum(lengths) + len(self._before) - 1,
                )

    def _with_characters(self, ids: Ids, sentence: Sequence[str], lengths: Sequence[int]) -> NDArray[Any]:
        """Return (time,), or (time, 1 + characters), where every piece has the characters of its whole
        word.
        """
        if self.spelling is None:
            return ids
        steps = np.zeros((len(ids), self.width), np.int32)
        steps[:, 0] = ids
        spelled = np.stack(
            [self.spelling.encode(word.removeprefix(" ")) for word in sentence]
        )  # (words, characters)
        steps[len(self._before) : len(ids) - len(self._after), 1:] = np.repeat(spelled, lengths, axis=0)
        return steps

    def _pieces(self, words: set[str]) -> dict[str, Ids]:
        ordered = sorted(words)
        start, end = len(self._before), len(self._after)
        encoded = [ids[start : len(ids) - end] for ids in self.tokenizer.encode_many(ordered)]
        return {
            word: ids if len(ids) else self._nothing_known for word, ids in zip(ordered, encoded, strict=True)
        }

    def _count(self, words: Counter[str]) -> Int[np.ndarray, " vocab"]:
        """Count the occurrences of each id from the counts of words."""
        counts = np.zeros(len(self.tokenizer.vocabulary), np.int64)
        for word, ids in self._pieces(set(words)).items():
            np.add.at(counts, ids, words[word])
        counts[sorted(self.tokenizer.vocabulary.special_ids)] = 0  # special tokens are never dropped
        return counts

    def names_of(self, row: Row) -> list[str]:
        return words_of(row, self.column)

    def padded(
        self, sequences: Sequence[NDArray[Any]], *, to_length: int
    ) -> tuple[Shaped[Tensor, "batch time *features"], Bool[Tensor, "batch time"]]:
        if self.spelling is None:
            return pad(sequences, value=self.pad_value, to_length=to_length)
        inputs, is_token = pad(sequences, to_length=to_length)  # no characters
        inputs[..., 0].masked_fill_(~is_token, self.pad_value)
        return inputs, is_token

    def embedding(self, hidden_size: int) -> nn.Module:
        vocabulary = self.tokenizer.vocabulary
        if self.spelling is None:
            return TokenEmbedding(len(vocabulary), hidden_size, pad_id=self.pad_value, std=EMBEDDING_STD)
        size = self.settings.character_size or hidden_size // 2
        if not 0 < size < hidden_size:
            raise RecipeError(
                f"the character features ({size}) must be smaller than the embedding ({hidden_size}), which words and"
                " characters share.",
                where="tagging.character_size",
                cure=(
                    "Lower it, set a larger model.embedding_size=NUMBER, or disable characters:"
                    " tagging.characters=none"
                ),
            )
        words = TokenEmbedding(len(vocabulary), hidden_size - size, pad_id=self.pad_value, std=EMBEDDING_STD)
        counts = (
            torch.from_numpy(self._counts)
            if len(self._counts)
            else torch.zeros(len(vocabulary), dtype=torch.int64)
        )
        rates = (
            word_drop_rates(counts, strength=self.settings.word_dropout)
            if self.settings.word_dropout
            else torch.zeros(len(vocabulary))
        )
        return WordCharacterEmbedding(
            words, self._encoder(len(self.spelling), size), unk_id=vocabulary.id(UNK), drop_rates=rates
        )

    def _encoder(self, num_characters: int, size: int) -> CharacterEncoder:
        settings = self.settings
        if settings.characters == "recurrent":
            return CharacterLSTM(num_characters, size, embedding_size=settings.character_embedding)
        return CharacterCNN(
            num_characters,
            size,
            embedding_size=settings.character_embedding,
            widths=settings.character_widths,
        )

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder)
        if self.spelling is not None:
            self.spelling.save(folder / CHARACTERS)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokenizer, steps if self.spelling is None else steps[:, 0])


def _spelling(recipe: Recipe, words: Counter[str]) -> Spelling:
    """Return the characters of the training data, or those of the run whose tokens are used."""
    folder = known_tokens(recipe)
    if folder is None:
        return Spelling.learn(_without_spaces(words), longest=recipe.section(TaggingSettings).max_word_length)
    if not (folder / CHARACTERS).is_file():
        raise RecipeError(
            f"the network of {folder.parent} was trained without the characters of words.",
            where="tagging.characters",
            cure="Set tagging.characters=none, or train without that run.",
        )
    return Spelling.load(folder / CHARACTERS)


def _without_spaces(words: Counter[str]) -> Counter[str]:
    """Merge the counts of words at the beginning of a sentence and inside it."""
    counts = Counter[str]()
    for word, count in words.items():
        counts[word.removeprefix(" ")] += count
    return counts


def _whole(word: str) -> str:
    """Replace spaces inside a word (1 000), so that it stays one word."""
    return "_".join(word.split())


def _with_spaces(words: Sequence[str]) -> list[str]:
    return [_whole(word) if place == 0 else f" {_whole(word)}" for place, word in enumerate(words)]


def _template(tokenizer: Tokenizer) -> tuple[Ids, Ids]:
    """Return what a published tokenizer adds before and after every text, such as [CLS] and [SEP]."""
    nothing, letter = tokenizer.encode(""), tokenizer.encode("a")
    before = next((place for place in range(len(nothing)) if nothing[place] != letter[place]), len(nothing))
    return nothing[:before], nothing[before:]
