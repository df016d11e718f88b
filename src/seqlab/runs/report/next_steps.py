"""What one would type after a command, ready to paste."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqlab.runs.run import Run


def after_training(run: Run) -> list[str]:
    """Ask the model something, or score it again."""
    return [*_questions(run), f"seqlab evaluate {quote(str(run.folder))}"]


def after_scores(run: Run) -> list[str]:
    """Ask the model something."""
    return _questions(run) or ["seqlab list runs"]


def _questions(run: Run) -> list[str]:
    folder, data = quote(str(run.folder)), run.recipe.data
    if run.recipe.task == "language_model":
        return [f'seqlab generate {folder} --prompt "The "', f'seqlab predict {folder} "The " --top 10']
    if run.recipe.task == "masked_language_model":
        return [f'seqlab predict {folder} "The [MASK] of the" --top 5']
    if run.recipe.task == "captioning":
        return [f"seqlab predict {folder} picture.png --beam 5"]
    if data.sequence:
        return [f"seqlab predict {folder} --file {quote(str(data.train))}"]
    if not data.text:  # numbers of a built-in dataset, which nobody wants to type
        return []
    if parts := getattr(getattr(run.task, "inputs", None), "parts", []):
        return [f"seqlab predict {folder} {quote(json.dumps(dict.fromkeys(parts, 'some text'), ensure_ascii=False))}"]
    return [f'seqlab predict {folder} "{_language(run)}some text"']


def _language(run: Run) -> str:
    """What a question to a model of several languages begins with."""
    from seqlab.tasks.translation.task import Translation  # which brings torch

    tags = run.task.tokens.tags if isinstance(run.task, Translation) else []
    return f"{tags[0]}: " if tags else ""
