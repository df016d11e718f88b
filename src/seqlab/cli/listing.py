"""seqlab list: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from seqlab.cli.console import answer, answer_json


def _models() -> dict[str, str]:
    from seqlab.models.settings import SHORT_NAMES

    return {name: ", ".join(f"model.{key}={str(value).lower()}" for key, value in settings.items()) for name, settings in SHORT_NAMES.items()}


def _datasets() -> dict[str, str]:
    from seqlab.datasets.base import datasets

    return {name: datasets.sentence(name) for name in datasets.names()}


def _tokens() -> dict[str, str]:
    from seqlab.tokens.base import tokenizers

    return {name: tokenizers.sentence(name) for name in tokenizers.names()}


def _tasks() -> dict[str, str]:
    from seqlab.core.registry import Registry
    from seqlab.recipes.reading import TASKS

    sentences: Registry[object] = Registry("task", room="seqlab.tasks")
    return {name: sentences.sentence(name) for name in TASKS}


def _recipes() -> dict[str, str]:
    from seqlab.recipes.reading import sentence_of, shipped_recipes

    return {name: sentence_of(name) for name in shipped_recipes()}


def _runs() -> dict[str, str]:
    from pathlib import Path

    found = sorted(Path("runs").glob("*/recipe.toml")) if Path("runs").is_dir() else []
    return {path.parent.name: "finished" if (path.parent / "results.json").is_file() else "not finished" for path in found}


KINDS: dict[str, Callable[[], dict[str, str]]] = {
    "tasks": _tasks,
    "models": _models,
    "tokens": _tokens,
    "datasets": _datasets,
    "recipes": _recipes,
    "runs": _runs,
}


def list_choices(
    kind: Annotated[str, typer.Argument(help=f"One of: {', '.join(KINDS)}.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """List tasks, models, tokens, datasets, recipes or runs."""
    from seqlab.core.errors import UsageError, nearest

    if kind and kind not in KINDS:
        raise UsageError(f"there is no list of '{kind}'.", cure=nearest(kind, KINDS))
    chosen = {kind: KINDS[kind]()} if kind else {name: entries() for name, entries in KINDS.items()}
    if as_json:
        return answer_json(chosen)
    for name, entries in chosen.items():
        answer(f"{name}:")
        width = max((len(entry) for entry in entries), default=0)
        for entry, sentence in entries.items():
            answer(f"  {entry:<{width}}  {sentence}")
    answer("next:\n  seqlab explain model" if kind else "next:\n  seqlab list datasets")
    return None
