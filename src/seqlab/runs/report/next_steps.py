"""Suggest the next commands, ready to paste."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqlab.runs.run import Run


def after_training(run: Run) -> list[str]:
    """Commands to query the model and to score it again."""
    return [*_questions(run), f"seqlab evaluate {quote(str(run.folder))}"]


def after_scores(run: Run) -> list[str]:
    """Commands to query the model."""
    return _questions(run) or ["seqlab list runs"]


def _questions(run: Run) -> list[str]:
    from seqlab.tasks.spec import find_spec  # the help of the command line must not wait for pydantic

    return find_spec(run.recipe.task).example_commands(run.folder, run.recipe, run.codec.example_input())
