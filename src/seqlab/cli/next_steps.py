"""What one would type after a command, ready to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.cli.console import quoted

if TYPE_CHECKING:
    from seqlab.runs.run import Run


def after_training(run: Run) -> list[str]:
    """Ask the model something, or score it again."""
    return [*_questions(run), f"seqlab evaluate {quoted(run.folder)}"]


def after_scores(run: Run) -> list[str]:
    """Ask the model something."""
    return _questions(run) or [f"seqlab explain {run.recipe.task}"]


def _questions(run: Run) -> list[str]:
    folder, data = quoted(run.folder), run.recipe.data
    if run.recipe.task == "language_model":
        return [f'seqlab generate {folder} --prompt "The "', f'seqlab predict {folder} "The " --top 10']
    if data.sequence:
        return [f"seqlab predict {folder} --file {quoted(data.train)}"]
    if not data.text:  # numbers from a built-in dataset
        return [f'seqlab predict {folder} "[[0.0, 0.5, …], …]"']
    return [f'seqlab predict {folder} "some text"']
