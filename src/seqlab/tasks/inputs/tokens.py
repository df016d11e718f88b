"""The tokenizer of a recipe, fitted or reused from the run that it starts from; text to ids and back."""

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
    """Return the folder with the tokenizer of the run that a recipe starts from, or of its teacher."""
    run = recipe.start.run or recipe.distillation.run
    return Path(run) / "tokens" if run else None


def fit_tokenizer(recipe: Recipe, texts: Iterable[str], *, specials: Sequence[str]) -> Tokenizer:
    """Fit a tokenizer; if the recipe starts from a run or has a teacher, load the tokenizer of that run.

    specials: the special tokens that a task needs.
    """
    folder = known_tokens(recipe)
    if folder is None:
        return tokenizers.get(recipe.tokens.kind).fit(texts, recipe.tokens, specials=specials)
    if (folder / NUMERIC).is_file():
        raise RunError(
            "the run reads numeric sequences, not text.",
            where=str(folder.parent),
            cure="Use a run that was trained on text.",
        )
    tokenizer = load_tokenizer(folder)
    if missing := [
        special
        for special in specials
        if special not in tokenizer.vocabulary.ids and special not in (UNK, PAD)
    ]:
        raise RunError(
            f"the tokenizer of the run has no {', '.join(missing)}, which the task {recipe.task} needs.",
            where=str(folder.parent),
            cure=f"Use a {recipe.task} run, or train without it.",
        )
    return tokenizer


def encode_texts(tokenizer: Tokenizer, texts: Sequence[Any], model: ModelSettings) -> list[NDArray[np.int32]]:
    """Encode texts with at least one id each, and at most as many as the network has positions."""
    max_length = max_known_length(model)
    unknown = np.array([tokenizer.vocabulary.id(UNK)], np.int32)
    return [
        (ids if len(ids) else unknown)[:max_length]
        for ids in tokenizer.encode_many([str(text) for text in texts])
    ]


def pieces_of(tokenizer: Tokenizer, ids: NDArray[Any]) -> list[str]:
    """Return the tokens of ids as they are in the vocabulary."""
    return [tokenizer.vocabulary.pieces[token] for token in ids.tolist()]


def readable_pieces(tokenizer: Tokenizer, ids: NDArray[Any]) -> list[str]:
    """Return the tokens of ids as readable text: byte pairs as characters, if these are complete."""
    texts = [tokenizer.decode([token]) for token in ids.tolist()]
    return [
        text if text and "\ufffd" not in text else piece
        for text, piece in zip(texts, pieces_of(tokenizer, ids), strict=True)
    ]
