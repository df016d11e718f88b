"""Initialize a run with the weights of another."""

from __future__ import annotations

import re

from torch import Tensor, nn

from seqlab.blocks.lora import merge_lora
from seqlab.core.errors import RecipeError, RunError
from seqlab.core.files import sha256
from seqlab.recipes.recipe import Recipe
from seqlab.runs.folder.layout import WEIGHTS
from seqlab.runs.run import Run
from seqlab.tasks.spec import find_spec
from seqlab.training.layer_depth import IN_LAYER

SHARED = ("embed.", "backbone.")
"""The parts of every model that do not depend on the task."""
NUMBER = re.compile(r"(?<=layers\.)\d+")


def digest_of_weights(source: Run, *, expected: str, where: str) -> str:
    """Return the SHA-256 of the source's weights; rejected if the recipe expects another."""
    digest = sha256(source.folder / WEIGHTS)
    if expected and digest != expected:
        raise RunError(
            f"the weights of {source.folder} are not those in the recipe (SHA-256 {digest[:12]}…, expected"
            f" {expected[:12]}…).",
            where=where,
            cure="Restore the run, or remove the digest from the recipe.",
        )
    return digest


def copy_weights(model: nn.Module, source: Run, recipe: Recipe) -> None:
    """Copy the embedding and the backbone of a run into a new model, and the head too if both run the same
    task and predict tokens.
    """
    merge_lora(source.model)
    takes_all = recipe.has_same_task(source.recipe) and find_spec(recipe.task).predicts_tokens
    source_weights = _renumbered(source.model.state_dict(), every=recipe.start.every)
    new_weights = model.state_dict()
    names = [name for name in new_weights if takes_all or name.startswith(SHARED)]
    wrong = [
        name
        for name in names
        if name not in source_weights or source_weights[name].shape != new_weights[name].shape
    ]
    if wrong or not names:
        first = wrong[0] if wrong else "embed"
        shape = list(source_weights[first].shape) if first in source_weights else "nothing"
        raise RecipeError(
            f"the weights do not fit the new network: '{first}' needs"
            f" {list(new_weights[first].shape) if first in new_weights else 'a name'}, the run has {shape}.",
            where=f"start.run {source.folder}",
            cure="Remove start.every, or start from a run with another network.",
        )
    model.load_state_dict({**new_weights, **{name: source_weights[name] for name in names}})


def _renumbered(weights: dict[str, Tensor], *, every: int) -> dict[str, Tensor]:
    """Keep the first of every N layers and renumber them: with every=2, layers 0, 2, 4 of six become 0, 1,
    2.
    """
    renumbered: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        layer = IN_LAYER.match(name)
        if layer is None:
            renumbered[name] = tensor
        elif int(layer[1]) % every == 0:
            renumbered[NUMBER.sub(str(int(layer[1]) // every), name, count=1)] = tensor
    return renumbered
