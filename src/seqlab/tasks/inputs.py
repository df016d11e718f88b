"""How the inputs of a task become steps: text through a tokenizer, numbers through a scale.

New kinds of input are new classes here.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.columns import StepColumn, smallest_dtype
from seqlab.blocks.embedding import InputProjection, TokenEmbedding
from seqlab.core.errors import DataError, RunError
from seqlab.core.files import write_whole
from seqlab.models.settings import ImageSettings, ModelSettings, max_known_length
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Row, Source
from seqlab.sources.columns import text_of
from seqlab.sources.views.joined_columns import BETWEEN, join_named, parts_of
from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.numeric_steps import NumericSteps
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.untrusted_json import list_of_texts, read_json_object
from seqlab.tokens.vocabulary import EOS, PAD, SEP, UNK

ROWS_AT_ONCE = 256
COLUMNS = "columns.json"
"""The file that names the columns whose texts are read one after the other."""
LARGEST_COLUMNS = 100_000
SEPARATORS = (SEP, "[SEP]", EOS)
"""What may stand between two columns, in the order of preference: tokens of another run know one of these."""
NUMERIC = "steps.json"
"""The file in which the scale of numeric steps is kept."""
EMBEDDING_STD = 0.2
"""Small enough that a thousand updates can turn a word around; chosen on validation data
(docs/recipes/imdb-lecture.md).
"""


class Inputs(ABC):
    """Values of a row -> an array of steps, and the layer through which such steps enter a network."""

    column: str
    dtype: np.dtype[Any]
    width: int
    """Numbers per step; 0 when a step is an id."""
    pad_value: int

    @property
    def step_column(self) -> StepColumn:
        """How a store keeps the steps: `tokens`, or `features` where they are measured numbers."""
        return StepColumn("features" if self.dtype.kind == "f" else "tokens", self.dtype, self.width)

    @abstractmethod
    def encode(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]: ...

    @abstractmethod
    def embedding(self, hidden_size: int) -> nn.Module: ...

    @abstractmethod
    def save(self, folder: Path) -> None: ...

    @abstractmethod
    def pieces(self, steps: NDArray[Any]) -> list[str]:
        """What each step stands for, in words."""

    def row(self, value: Any, number: int) -> Row:
        """A value that does not come from a file, as a row."""
        return Row({self.column: value}, "input", number)


class CutInputs(Inputs):
    """Inputs that are cut where they are longer than a network is to read."""

    max_length: int
    """The length to which sequences are cut; 0 keeps them whole."""

    @abstractmethod
    def encode_whole(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        """Every row with all of its steps."""

    def encode(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        """Every row with as many steps as a network is given."""
        return ((row, self.cut(steps)) for row, steps in self.encode_whole(rows))

    def cut(self, steps: NDArray[Any]) -> NDArray[Any]:
        return steps[: self.max_length] if self.max_length else steps


class TextInputs(CutInputs):
    """Text as token ids, cut to `max_length`.

    Texts of several columns follow one another with a separator between them.
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
    def learn(cls, recipe: Recipe, train: Source) -> TextInputs:
        parts = parts_of(recipe.data.text, train.columns)
        texts = (text_of(row, recipe.data.text) for row in train.rows())
        if parts:
            texts = (part for text in texts for part in text.split(BETWEEN))
        tokenizer = learn_tokenizer(
            recipe, texts, specials=[UNK, PAD, SEP] if parts and known_tokens(recipe) is None else [UNK, PAD]
        )
        if parts:
            separator_of(tokenizer, where=str(known_tokens(recipe)))
        return cls(tokenizer, column=recipe.data.text, max_length=recipe.data.max_length, parts=parts)

    def encode_whole(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        remaining = iter(rows)
        while chunk := list(islice(remaining, ROWS_AT_ONCE)):
            for row, ids in zip(
                chunk, self._encode_texts([text_of(row, self.column) for row in chunk]), strict=True
            ):
                yield row, ids if len(ids) else self._nothing_known  # text of characters that no token knows

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
        """With several columns a question is an object with a text for each, also as JSON."""
        if not self.parts:
            return super().row(value, number)
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


def separator_of(tokenizer: Tokenizer, *, where: str = "") -> int:
    """The id of what stands between the texts of two columns."""
    found = next(
        (tokenizer.vocabulary.ids[piece] for piece in SEPARATORS if piece in tokenizer.vocabulary.ids), None
    )
    if found is None:
        raise RunError(
            f"the tokens of the run know none of {', '.join(SEPARATORS)}, one of which stands between two"
            " columns.",
            where=where,
            cure="Name one column (data.text=NAME), or train without that run.",
        )
    return found


def _object_of(value: Any, parts: Sequence[str], number: int) -> Mapping[str, Any]:
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, Mapping):
        example = json.dumps(dict.fromkeys(parts, "…"), ensure_ascii=False)
        raise DataError(
            f"this run reads several texts ({', '.join(parts)}) and got one.",
            where=f"input {number}",
            cure=f"Write an object: {example}",
        )
    return found


class NumericInputs(CutInputs):
    """Vectors of numbers, each feature brought to mean 0 and deviation 1: series, feature vectors, the rows
    of an image.

    Where the network reads the rows as a picture, all pixels of a channel share one mean and one deviation.
    """

    column = STEPS
    pad_value = 0

    def __init__(self, scale: NumericSteps, *, max_length: int) -> None:
        self.scale = scale
        self.max_length = max_length
        self.width = scale.num_features
        self.dtype = np.dtype(np.float32)

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> NumericInputs:
        steps = (row.values[STEPS] for row in train.rows())
        model = recipe.model
        scale = (
            NumericSteps.fit_pixels(steps, channels=model.channels)
            if isinstance(model, ImageSettings)
            else NumericSteps.fit(steps)
        )
        return cls(scale, max_length=recipe.data.max_length)

    def encode_whole(self, rows: Iterable[Row]) -> Iterator[tuple[Row, NDArray[Any]]]:
        for row in rows:
            yield row, self.scale.encode(row.values[STEPS], where=row.where)

    def embedding(self, hidden_size: int) -> nn.Module:
        return InputProjection(self.width, hidden_size)

    def save(self, folder: Path) -> None:
        self.scale.save(folder / NUMERIC)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return [f"step {place}" for place in range(1, len(steps) + 1)]


def encode_texts(tokenizer: Tokenizer, texts: Sequence[Any], model: ModelSettings) -> list[NDArray[np.int32]]:
    """Texts as ids, each at least one and no more than learned positions know."""
    most = max_known_length(model)
    nothing_known = np.array([tokenizer.vocabulary.id(UNK)], np.int32)
    return [
        (ids if len(ids) else nothing_known)[:most]
        for ids in tokenizer.encode_many([str(text) for text in texts])
    ]


def pieces_of(tokenizer: Tokenizer, ids: NDArray[Any]) -> list[str]:
    """The pieces that ids stand for, as the vocabulary writes them."""
    return [tokenizer.vocabulary.pieces[token] for token in ids.tolist()]


def readable_pieces(tokenizer: Tokenizer, ids: NDArray[Any]) -> list[str]:
    """The same for readers: byte pairs as the letters they stand for, where they are whole letters."""
    texts = [tokenizer.decode([token]) for token in ids.tolist()]
    return [
        text if text and "\ufffd" not in text else piece
        for text, piece in zip(texts, pieces_of(tokenizer, ids), strict=True)
    ]


def digest_of(save: Callable[[Path], None]) -> str:
    """A hash of everything that something would save: what it encodes depends on nothing else."""
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def learn_inputs(recipe: Recipe, train: Source) -> CutInputs:
    """The inputs that the source offers: its numeric steps if it has them, else its text.

    Those of another run are taken as they are.
    """
    folder = known_tokens(recipe)
    has_steps = STEPS in train.columns
    if folder is not None and has_steps != (folder / NUMERIC).is_file():
        before, now = ("text", "series of numbers") if has_steps else ("series of numbers", "text")
        raise DataError(
            f"this data holds {now}, and the run {folder.parent} reads {before}.",
            where=train.name,
            cure=f"Give data with {before}, or train without that run.",
        )
    if folder is not None and has_steps:
        return load_inputs(recipe, folder)
    return NumericInputs.learn(recipe, train) if has_steps else TextInputs.learn(recipe, train)


def learn_tokenizer(recipe: Recipe, texts: Iterable[str], *, specials: Sequence[str]) -> Tokenizer:
    """Tokens learned from texts; where the recipe starts from a run, or has one for a teacher, the tokens of
    that run.

    specials: the special pieces that a task asks for.
    """
    folder = known_tokens(recipe)
    if folder is None:
        return tokenizers.get(recipe.tokens.kind).fit(texts, recipe.tokens, specials=specials)
    if (folder / NUMERIC).is_file():
        raise RunError(
            "the run reads series of numbers, not text.",
            where=str(folder.parent),
            cure="Take a run that was trained on text.",
        )
    tokenizer = load_tokenizer(folder)
    if missing := [
        special
        for special in specials
        if special not in tokenizer.vocabulary.ids and special not in (UNK, PAD)
    ]:
        raise RunError(
            f"the tokens of the run know no {', '.join(missing)}, which the task {recipe.task} needs.",
            where=str(folder.parent),
            cure=f"Take a run of the task {recipe.task}, or train without it.",
        )
    return tokenizer


def known_tokens(recipe: Recipe) -> Path | None:
    """The folder with the tokens of the run that a recipe starts from, or learns from."""
    run = recipe.start.run or recipe.distillation.run
    return Path(run) / "tokens" if run else None


def load_inputs(recipe: Recipe, folder: Path) -> CutInputs:
    if (folder / NUMERIC).is_file():
        return NumericInputs(NumericSteps.load(folder / NUMERIC), max_length=recipe.data.max_length)
    path = folder / COLUMNS
    parts = (
        list_of_texts(read_json_object(path, largest=LARGEST_COLUMNS), "columns", path=path)
        if path.is_file()
        else []
    )
    return TextInputs(
        load_tokenizer(folder), column=recipe.data.text, max_length=recipe.data.max_length, parts=parts
    )
