"""Text as token ids; several columns of text with a separator between them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.columns import smallest_dtype
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import DataError, RunError, UsageError
from seqlab.core.files import write_whole
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source, text_of
from seqlab.sources.views.joined_columns import BETWEEN, join_named, parts_of
from seqlab.tasks.inputs.base import CutInputs
from seqlab.tasks.inputs.tokens import fit_tokenizer, known_tokens, pieces_of
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.untrusted_json import list_of_texts, read_json_object
from seqlab.tokens.vocabulary import EOS, PAD, SEP, UNK

ROWS_AT_ONCE = 256
COLUMNS = "columns.json"
"""The file with the names of the text columns that are joined."""
LARGEST_COLUMNS = 100_000
SEPARATORS = (SEP, "[SEP]", EOS)
"""Possible separators between two columns, in order of preference; the tokenizer of another run has one of
them.
"""
EMBEDDING_STD = 0.2
"""Small enough that a thousand updates can change a word vector completely; chosen on validation data
(docs/recipes/imdb-lecture.md).
"""


class TextInputs(CutInputs):
    """Text as token ids, truncated to `max_length`.

    Texts of several columns are joined with a separator.
    """

    width = 0

    def __init__(
        self, tokenizer: Tokenizer, *, column: str, max_length: int, parts: Sequence[str] = ()
    ) -> None:
        self.tokenizer = tokenizer
        self.column = column
        self.parts = list(parts)
        self.max_length = max_length
        self.pad_value = tokenizer.vocabulary.pad_id
        self.dtype = smallest_dtype(len(tokenizer.vocabulary))
        self._nothing_known = np.array([tokenizer.vocabulary.id(UNK)], np.int32)

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> TextInputs:
        parts = parts_of(recipe.data.text, train.columns)
        texts = (text_of(row, recipe.data.text) for row in train.rows())
        if parts:
            texts = (part for text in texts for part in text.split(BETWEEN))
        tokenizer = fit_tokenizer(
            recipe, texts, specials=[UNK, PAD, SEP] if parts and known_tokens(recipe) is None else [UNK, PAD]
        )
        if parts:
            separator_of(tokenizer, where=str(known_tokens(recipe)))
        return cls(tokenizer, column=recipe.data.text, max_length=recipe.data.max_length, parts=parts)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> TextInputs:
        path = folder / COLUMNS
        parts = (
            list_of_texts(read_json_object(path, largest=LARGEST_COLUMNS), "columns", path=path)
            if path.is_file()
            else []
        )
        data = recipe.data
        return cls(load_tokenizer(folder), column=data.text, max_length=data.max_length, parts=parts)

    def encode_whole(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        remaining = iter(rows)
        while chunk := list(islice(remaining, ROWS_AT_ONCE)):
            for row, ids in zip(
                chunk, self._encode_texts([text_of(row, self.column) for row in chunk]), strict=True
            ):
                yield row, ids if len(ids) else self._nothing_known  # text without any known characters

    def _encode_texts(self, texts: list[str]) -> Sequence[NDArray[Any]]:
        if not self.parts:
            return self.tokenizer.encode_many(texts)
        between = np.array([separator_of(self.tokenizer)], np.int32)
        parts = iter(self.tokenizer.encode_many([part for text in texts for part in text.split(BETWEEN)]))
        joined = []
        for text in texts:
            first, *others = islice(parts, text.count(BETWEEN) + 1)
            joined.append(np.concatenate([first, *(ids for other in others for ids in (between, other))]))
        return joined

    def row(self, value: Any, number: int) -> Row:
        """Return an input as a row. With several columns, an input is an object with a text for each, or
        its JSON.
        """
        if not self.parts:
            return super().row(text_input(value, number), number)
        return super().row(
            join_named(_object_of(value, self.parts, number), self.parts, where=f"input {number}"), number
        )

    def embedding(self, hidden_size: int) -> nn.Module:
        return TokenEmbedding(
            len(self.tokenizer.vocabulary), hidden_size, pad_id=self.pad_value, std=EMBEDDING_STD
        )

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder)
        if self.parts:
            write_whole(folder / COLUMNS, json.dumps({"columns": self.parts}, ensure_ascii=False))

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokenizer, steps)

    def is_unknown(self, steps: NDArray[Any]) -> bool:
        return bool(np.all(steps == self._nothing_known))


def separator_of(tokenizer: Tokenizer, *, where: str = "") -> int:
    """Return the id of the separator between the texts of two columns."""
    separator = next(
        (tokenizer.vocabulary.ids[piece] for piece in SEPARATORS if piece in tokenizer.vocabulary.ids), None
    )
    if separator is None:
        raise RunError(
            f"the tokenizer of the run has none of the separators {', '.join(SEPARATORS)}, which several text"
            " columns need.",
            where=where,
            cure="Set one column (data.text=NAME), or train without that run.",
        )
    return separator


def text_input(value: Any, number: int) -> str:
    """An input that a user passes, which has to be a text."""
    if isinstance(value, str):
        return value
    raise UsageError(
        f"expected text, found {type(value).__name__}.",
        where=f"input {number}",
        cure='Pass a list of texts: run.predict(["the text"])',
    )


def _object_of(value: Any, parts: Sequence[str], number: int) -> Mapping[str, Any]:
    try:
        texts = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        texts = None
    if not isinstance(texts, Mapping):
        example = json.dumps(dict.fromkeys(parts, "…"), ensure_ascii=False)
        raise DataError(
            f"this run reads several texts ({', '.join(parts)}), but got only one.",
            where=f"input {number}",
            cure=f"Pass an object: {example}",
        )
    return texts
