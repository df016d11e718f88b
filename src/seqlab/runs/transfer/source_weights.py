"""The weights of one run as the start of another."""

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
"""What all models call the parts that do not depend on the task."""
NUMBER = re.compile(r"(?<=layers\.)\d+")


def digest_of_weights(source: Run, *, expected: str, where: str) -> str:
    """SHA-256 of the source's weights; refused when a recipe names others."""
    digest = sha256(source.folder / WEIGHTS)
    if expected and digest != expected:
        raise RunError(
            f"the weights of {source.folder} are not those that the recipe names ({digest[:12]}…, expected"
            f" {expected[:12]}…).",
            where=where,
            cure="Restore the run, or leave the digest out of the recipe.",
        )
    return digest


def copy_weights(model: nn.Module, source: Run, recipe: Recipe) -> None:
    """Copy the embedding and the body of a run into a new model; where the task is the same and answers with
    tokens, its head too.
    """
    merge_lora(source.model)
    takes_all = source.recipe.task == recipe.task and find_spec(recipe.task).predicts_tokens
    before = _renumbered(source.model.state_dict(), every=recipe.start.every)
    now = model.state_dict()
    names = [name for name in now if takes_all or name.startswith(SHARED)]
    wrong = [name for name in names if name not in before or before[name].shape != now[name].shape]
    if wrong or not names:
        first = wrong[0] if wrong else "embed"
        shape = list(before[first].shape) if first in before else "nothing"
        raise RecipeError(
            f"the weights do not fit the new network: '{first}' needs"
            f" {list(now[first].shape) if first in now else 'a name'}, the run has {shape}.",
            where=f"start.run {source.folder}",
            cure="Leave start.every out, or start from a run of another network.",
        )
    model.load_state_dict({**now, **{name: before[name] for name in names}})


def _renumbered(weights: dict[str, Tensor], *, every: int) -> dict[str, Tensor]:
    """The first of every so many layers, numbered anew: of six layers and every=2 the layers 0, 2, 4 become
    0, 1, 2.
    """
    renumbered: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        layer = IN_LAYER.match(name)
        if layer is None:
            renumbered[name] = tensor
        elif int(layer[1]) % every == 0:
            renumbered[NUMBER.sub(str(int(layer[1]) // every), name, count=1)] = tensor
    return renumbered
