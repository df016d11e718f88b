"""The tokenizer of a recipe, fitted or taken from the run that it starts from; texts as ids, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqlab.core.errors import RunError
from seqlab.models.settings.section import ModelSettings, max_known_length
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.inputs.numeric import NUMERIC
from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.tokenizer_folder import load_tokenizer
from seqlab.tokens.vocabulary import PAD, UNK


def known_tokens(recipe: Recipe) -> Path | None:
    """The folder with the tokens of the run that a recipe starts from, or that is its teacher."""
    run = recipe.start.run or recipe.distillation.run
    return Path(run) / "tokens" if run else None


def fit_tokenizer(recipe: Recipe, texts: Iterable[str], *, specials: Sequence[str]) -> Tokenizer:
    """A tokenizer fitted to texts; where the recipe starts from a run or has a teacher, the tokenizer of that
    run.

    specials: the special tokens that a task needs.
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


def encode_texts(tokenizer: Tokenizer, texts: Sequence[Any], model: ModelSettings) -> list[NDArray[np.int32]]:
    """At least one id for each text, and no more than the network has learned positions."""
    max_length = max_known_length(model)
    unknown = np.array([tokenizer.vocabulary.id(UNK)], np.int32)
    return [
        (ids if len(ids) else unknown)[:max_length]
        for ids in tokenizer.encode_many([str(text) for text in texts])
    ]


def pieces_of(tokenizer: Tokenizer, ids: NDArray[Any]) -> list[str]:
    """The tokens of ids, as the vocabulary writes them."""
    return [tokenizer.vocabulary.pieces[token] for token in ids.tolist()]


def readable_pieces(tokenizer: Tokenizer, ids: NDArray[Any]) -> list[str]:
    """The same for readers: byte pairs as the characters they stand for, where these are complete."""
    texts = [tokenizer.decode([token]) for token in ids.tolist()]
    return [
        text if text and "\ufffd" not in text else piece
        for text, piece in zip(texts, pieces_of(tokenizer, ids), strict=True)
    ]
