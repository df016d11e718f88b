"""seqlab list: what there is to choose from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, suggest

if TYPE_CHECKING:
    from seqlab.core.settings import Settings


def _models() -> dict[str, str]:
    from seqlab.cells.settings import cell_settings
    from seqlab.core.settings import sentence_of
    from seqlab.models.aliases import MODEL_ALIASES
    from seqlab.models.presets import MODEL_PRESETS
    from seqlab.models.settings import MODEL_KINDS

    def sentence(settings: dict[str, object]) -> str:
        cell = settings.get("cell")
        about = sentence_of(cell_settings(str(cell)) if cell else MODEL_KINDS[str(settings["kind"])])
        means = " ".join(
            f"model.{key}={str(value).lower()}" for key, value in settings.items() if key != "kind"
        )
        return f"{about} {means}".rstrip()

    return {
        name: MODEL_PRESETS[name].summary if name in MODEL_PRESETS else sentence(settings)
        for name, settings in MODEL_ALIASES.items()
    }


def _cells() -> dict[str, str]:
    from seqlab.cells.settings import CELL_KINDS
    from seqlab.core.settings import sentence_of

    return {name: f"{sentence_of(settings)} {options_of(settings)}" for name, settings in CELL_KINDS.items()}


def options_of(settings: type[Settings]) -> str:
    """The names of a part's options in one sentence."""
    return f"Options: {', '.join(name for name in settings.model_fields if name != 'kind')}."


def _attention() -> dict[str, str]:
    from seqlab.attention.registry import score_functions

    return score_functions.summaries()


def _positions() -> dict[str, str]:
    from seqlab.positions.registry import positional_encodings

    return positional_encodings.summaries()


def _optimizers() -> dict[str, str]:
    from seqlab.training.optimizers.registry import optimizers

    return optimizers.summaries()


def _datasets() -> dict[str, str]:
    from seqlab.datasets.base import datasets

    return datasets.summaries()


def _tokens() -> dict[str, str]:
    from seqlab.tokens.registry import tokenizers

    return tokenizers.summaries()


def _metrics() -> dict[str, str]:
    from seqlab.metrics.registry import metrics

    return metrics.summaries()


def _formats() -> dict[str, str]:
    from seqlab.sources.formats.registry import source_formats

    return source_formats.summaries()


def _tasks() -> dict[str, str]:
    from seqlab.recipes.task_registry import registered_tasks

    return registered_tasks.summaries()


def _recipes() -> dict[str, str]:
    from seqlab.recipes.read import recipe_summary, shipped_recipes

    return {name: recipe_summary(name) for name in shipped_recipes()}


def _studies() -> dict[str, str]:
    from seqlab.studies.base import studies

    return studies.summaries()


def _runs() -> dict[str, str]:
    """The runs below runs/ in this folder, each with its first score."""
    recipes = sorted(Path("runs").glob("*/recipe.toml")) if Path("runs").is_dir() else []
    return {path.parent.name: _state_of(path.parent) for path in recipes}


def _state_of(folder: Path) -> str:
    from seqlab.core.errors import SeqlabError
    from seqlab.runs.folder.layout import RESULTS
    from seqlab.runs.folder.manifest import read_manifest, verify_scored

    path = folder / RESULTS
    if not path.is_file():
        return f"not finished; go on: seqlab train --resume {quoted(folder)}"
    try:
        verify_scored(folder, RESULTS, read_manifest(folder))
        results = json.loads(path.read_text(encoding="utf-8"))
        if imported := results.get("training", {}).get("imported"):
            return f"imported: {imported['family']}, {int(imported['parameters']):,} parameters"
        splits = results["splits"]
        split = "test" if "test" in splits else "valid"
        score = splits[split]["scores"][0]
        return f"{split} {score['name'].replace('_', ' ')} {float(score['value']):.4f}"
    except (SeqlabError, OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
        return (
            "its results are damaged or of an earlier version; write them again: seqlab train --resume"
            f" {quoted(folder)}"
        )


KINDS: dict[str, Callable[[], dict[str, str]]] = {
    "tasks": _tasks,
    "models": _models,
    "cells": _cells,
    "attention": _attention,
    "positions": _positions,
    "optimizers": _optimizers,
    "tokens": _tokens,
    "formats": _formats,
    "metrics": _metrics,
    "datasets": _datasets,
    "recipes": _recipes,
    "studies": _studies,
    "runs": _runs,
}
USES = {
    "tasks": "seqlab train FILE --task {}",
    "models": "seqlab train FILE --model lstm",
    "cells": "seqlab train FILE --model lstm",
    "attention": "seqlab explain {}",
    "positions": "seqlab train FILE --model transformer model.positions={}",
    "optimizers": "seqlab train FILE training.optimizer={}",
    "tokens": "seqlab train FILE tokens.kind={}",
    "formats": "seqlab train FILE data.format={}",
    "metrics": "seqlab train FILE evaluation.metrics={}",
    "datasets": "seqlab train {}",
    "recipes": "seqlab train {} --dry-run",
    "studies": "seqlab study {}",
    "runs": "seqlab evaluate {}",
}


def list_choices(
    kind: Annotated[
        str, typer.Argument(help=f"One of: {', '.join(KINDS)}. All when left out.", metavar="KIND")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """List tasks, models, cells, attention scores, positions, optimizers, tokens, formats, metrics, datasets,
    recipes, studies or runs.
    """
    from seqlab.core.errors import UsageError, nearest

    if kind and kind not in KINDS:
        raise UsageError(f"there is no list of '{kind}'.", cure=nearest(kind, KINDS))
    chosen = {name: entries() for name, entries in KINDS.items() if kind in ("", name)}
    if as_json:
        return answer_json(chosen)
    for name, entries in chosen.items():
        answer(f"{name}:" if entries else f"{name}: none yet")
        width = max((len(entry) for entry in entries), default=0)
        for entry, sentence in entries.items():
            answer_sentences(f"  {entry:<{width}}  {sentence}", hanging=width + 2)
    uses = [
        USES[name].format(quoted(next(iter(entries))))
        for name, entries in chosen.items()
        if entries and (kind or name == "datasets")
    ]
    return suggest(uses or ["seqlab train FILE"])
