"""Maps arguments of networks and searches to settings: the argument `num_heads` is the setting
`model.heads`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from seqlab.core.errors import ArgumentError, RecipeError
from seqlab.recipes.recipe import Recipe

SETTINGS = {
    "num_heads": "heads",
    "num_kv_heads": "kv_heads",
    "num_features": "kind",
    "max_length": "max_positions",
    "beam_size": "beam",
    "coverage": "coverage_penalty",
    "groups": "beam_groups",
    "shared": "shared_embedding",
}
"""The settings whose names differ from their arguments."""
ARGUMENT = re.compile(r"\b([a-z_]+)(?==)")
"""An argument in a hint, followed by its value."""


@contextmanager
def naming_settings(recipe: Recipe, section: str = "model") -> Iterator[None]:
    """Turn an `ArgumentError` into a `RecipeError` that names the setting, such as `model.heads`.

    section: where the arguments come from. The part that an error names ("decoder") is tried first and the
    section `model` last, because a search may find that its input does not fit the network.
    """
    try:
        yield
    except ArgumentError as error:
        sections = [name for name in (error.part, section, "model") if name]
        raise RecipeError(
            error.what,
            where=_setting(recipe, sections, error.argument) or sections[0],
            cure=ARGUMENT.sub(lambda match: _setting(recipe, sections, match[1]) or match[1], error.cure),
        ) from error


def _setting(recipe: Recipe, sections: list[str], argument: str) -> str:
    """Return the dotted name of the setting behind an argument; empty if no section has it."""
    name = SETTINGS.get(argument, argument)
    for section in sections:
        if name in type(getattr(recipe, section)).model_fields:
            return f"{section}.{name}"
    return ""
