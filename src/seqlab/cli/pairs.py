"""Pairs that are to be scored: with a tab between both sides where they are typed, or out of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.cli.stream import picture_of
from seqlab.core.errors import DataError

if TYPE_CHECKING:
    from seqlab.recipes.recipe import Recipe


def pairs_of_lines(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """SOURCE<tab>TARGET."""
    for place, line in enumerate(lines, start=1):
        source, tab, target = line.partition("\t")
        if not tab:
            raise DataError(
                "there is no tab between a source and a target.",
                where=f"input {place}",
                cure="Write both with a tab between them, or name a file with both columns: --score --file pairs.tsv",
            )
        yield source, target


def pairs_of_file(path: str, recipe: Recipe) -> Iterator[tuple[Any, str]]:
    """Both columns of a file, which is read the way the training data was."""
    from seqlab.runs.data import open_more, with_sides
    from seqlab.sources.columns import text_of

    source = open_more(recipe, path)
    data = with_sides(recipe, source).data
    for row in source.rows():
        target = text_of(row, data.target)
        if recipe.task == "captioning":
            yield picture_of(row.values[data.source], Path(path).parent), target
            continue
        language = f"{text_of(row, data.language)}: " if data.language else ""  # as one would type it
        yield language + text_of(row, data.source), target
