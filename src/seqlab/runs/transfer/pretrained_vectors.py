"""Initialize an embedding from pretrained word vectors."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from seqlab.core.errors import RecipeError, RunError, listed
from seqlab.core.files import sha256
from seqlab.models.settings.images import ImageSettings
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.codec import Codec
from seqlab.tasks.spec import find_spec
from seqlab.tasks.vectors import embedding_table
from seqlab.tokens.vector_files import read_word_vectors, width_of
from seqlab.tokens.vocabulary import EOS, MASK, PAD, SOS, UNK

WHERE = "start.vectors"
SPECIALS = {UNK, PAD, SOS, EOS, MASK}


def fit_to_vectors(recipe: Recipe, *, user_settings: set[str]) -> tuple[Recipe, list[str]]:
    """Set the embedding size of the recipe to that of the vectors; a different size set by the user is rejected.

    user_settings: model settings that the user has set.
    """
    if not recipe.start.vectors:
        return recipe, []
    path, model = Path(recipe.start.vectors), recipe.model
    width = width_of(path)
    if isinstance(model, ImageSettings):
        raise RecipeError(
            f"word vectors do not apply to a {model.kind} network, which reads images.",
            where=WHERE,
            cure="Remove it.",
        )
    name = "embedding_size" if hasattr(model, "embedding_size") else "hidden_size"
    extra = find_spec(recipe.task).extra_embedding_size(recipe, width)
    current, needed = getattr(model, name), width + extra
    if name in user_settings and current and current != needed:
        raise RecipeError(
            f"the vectors in {path.name} have {width} dimensions, but model.{name}={current} requires another size.",
            where=WHERE,
            cure=f"Remove model.{name}, or set it to {needed}.",
        )
    heads = getattr(model, "heads", 1)
    if name == "hidden_size" and needed % heads and not getattr(model, "head_size", 0):
        fitting = [str(count) for count in range(1, min(needed, 16) + 1) if needed % count == 0]
        raise RecipeError(
            f"the vectors in {path.name} have {width} dimensions, and a hidden size of {needed} is not divisible by"
            f" {heads} heads.",
            where=WHERE,
            cure=f"Set model.heads to one of {listed(fitting)}.",
        )
    recipe = recipe.changed("model", **{name: needed}).changed(
        "start", vectors=str(path.resolve()), digest=_digest(path, recipe.start.digest)
    )
    return recipe, (
        [] if current == needed else [f"model.{name}={needed}, from the size of the vectors in {path.name}"]
    )


def copy_vectors(model: nn.Module, codec: Codec, path: str) -> str:
    """Copy the vectors of all tokens in the file, and return a sentence that says how many there are.

    A token that the file has only in lower case gets that vector. All others are initialized at random, at
    the scale of the file's vectors; padding stays zero.
    """
    embed, steps = embedding_table(model)
    pieces = codec.pieces(steps)
    known = {form for piece in pieces for form in (piece, piece.lower())}
    table = read_word_vectors(path, is_needed=known.__contains__)
    real = [place for place in range(len(pieces)) if place != embed.padding_idx]
    exact = {place: table.places[pieces[place]] for place in real if pieces[place] in table.places}
    lower = {
        place: table.places[pieces[place].lower()]
        for place in real
        if place not in exact and pieces[place].lower() in table.places
    }
    places = exact | lower
    if not {pieces[place] for place in places} - SPECIALS:
        some = [pieces[place] for place in real[-8:]]
        raise RecipeError(
            f"{Path(path).name} has no vector for any of the {len(real):,} tokens, such as {listed(some)}.",
            where=WHERE,
            cure="Word vectors need word tokens: tokens.kind=words",
        )
    missing = [place for place in real if place not in places]
    with torch.no_grad():
        rows = torch.from_numpy(table.vectors[list(places.values())]).to(embed.weight)
        if missing:
            embed.weight[missing] *= _size(rows) / _size(embed.weight[missing])
        embed.weight[list(places)] = rows
    case = f" ({len(lower):,} of them in lower case)" if lower else ""
    return (
        f"{len(places):,} of {len(real):,} tokens start from the vectors in {Path(path).name}{case},"
        f" {len(missing):,} at random"
    )


def _size(rows: torch.Tensor) -> float:
    """Return the root mean square."""
    return max(float(rows.square().mean().sqrt()), 1e-12)


def _digest(path: Path, expected: str) -> str:
    digest = sha256(path)
    if expected and digest != expected:
        raise RunError(
            f"{path} is not the file in the recipe (SHA-256 {digest[:12]}…, expected {expected[:12]}…).",
            where="start.digest",
            cure="Restore the file, or remove the digest from the recipe.",
        )
    return digest
