"""Pairs that are to be scored: with a tab between both sides where they are typed, or out of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
                cure=(
                    "Write both with a tab between them, or name a file with both columns: --score --file"
                    " pairs.tsv"
                ),
            )
        yield source, target


def pairs_of_file(path: str, recipe: Recipe) -> Iterator[tuple[Any, str]]:
    """Both columns of a file, which is read the way the training data was."""
    from seqlab.runs.data import open_further_data, with_columns
    from seqlab.sources.columns import text_of
    from seqlab.tasks.spec import find_spec

    source = open_further_data(recipe, path)
    data = with_columns(recipe, source).data
    inputs = find_spec(recipe.task).read_inputs(source, data, Path(path).parent)
    targets = (text_of(row, data.target) for row in source.rows())
    yield from zip(inputs, targets, strict=True)
