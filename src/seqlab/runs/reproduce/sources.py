"""What a run was trained from besides its data: a run to fine-tune, a teacher, a file of word vectors.

Their digests are in the recipe, so a repetition never starts from anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from seqlab.core.errors import RunError, UsageError, nearest
from seqlab.recipes.recipe import Recipe
from seqlab.runs.folder.layout import RECIPE

RUNS = ("start.run", "distillation.run")
SOURCES = (*RUNS, "start.vectors")
"""The settings that name them."""


def with_moved_sources(recipe: Recipe, moved: Mapping[str, str]) -> Recipe:
    """The recipe with the places where its sources are now, by the names of the settings."""
    for setting, place in moved.items():
        if setting not in SOURCES:
            raise UsageError(
                f"{setting!r} is not a place that can change.",
                where="sources=",
                cure=nearest(setting, SOURCES),
            )
        if not _place(recipe, setting):
            raise UsageError(
                f"the run was trained without {setting}.", where="sources=", cure="Leave it out."
            )
        section, _, name = setting.partition(".")
        recipe = recipe.changed(section, **{name: str(Path(place).resolve())})
    return recipe


def require_sources(recipe: Recipe, folder: Path) -> None:
    """Name a source that is gone before anything is read."""
    for setting in SOURCES:
        place = _place(recipe, setting)
        if place and not (Path(place) / RECIPE if setting in RUNS else Path(place)).is_file():
            kind = "FOLDER" if setting in RUNS else "FILE"
            raise RunError(
                f"{setting} of {folder} is no longer there.",
                where=place,
                cure=f"If it was moved: seqlab reproduce {quote(str(folder))} {setting}={kind}",
            )


def _place(recipe: Recipe, setting: str) -> str:
    section, _, name = setting.partition(".")
    place = getattr(getattr(recipe, section), name)
    assert isinstance(place, str)
    return place
