"""The kinds of parts that `seqlab list` shows: their names, a summary of each, and a command that uses it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.cli.console import quoted

if TYPE_CHECKING:
    from seqlab.core.registry import Registry
    from seqlab.core.settings import Settings


@dataclass(frozen=True)
class PartKind(ABC):
    """One kind. singular: what one of them is called; use: a command with {} for the name."""

    singular: str
    use: str

    @abstractmethod
    def names(self) -> Sequence[str]: ...

    @abstractmethod
    def summary(self, name: str) -> str:
        """What it is, and when to use it."""

    def has(self, name: str) -> bool:
        return name in self.names()

    def summaries(self) -> dict[str, str]:
        return {name: self.summary(name) for name in self.names()}

    def command(self, name: str) -> str:
        return self.use.format(quoted(name))


@dataclass(frozen=True)
class RegisteredParts(PartKind):
    """The parts of a registry: `registry` is an attribute of `module`, which is imported on first use."""

    module: str
    registry: str

    def load(self) -> Registry[Any]:
        registry: Registry[Any] = getattr(import_module(self.module), self.registry)
        return registry

    def names(self) -> Sequence[str]:
        return self.load().names()

    def has(self, name: str) -> bool:
        return name in self.load()

    def summary(self, name: str) -> str:
        return self.load().summary(name)


class Cells(RegisteredParts):
    """Recurrent cells, each with the names of its options."""

    def summary(self, name: str) -> str:
        from seqlab.cells.settings import CELL_KINDS

        return f"{super().summary(name)} {options_of(CELL_KINDS[name])}"


class Models(PartKind):
    """Everything that `--model` accepts."""

    def names(self) -> Sequence[str]:
        from seqlab.models.aliases import MODEL_ALIASES

        return list(MODEL_ALIASES)

    def summary(self, name: str) -> str:
        from seqlab.models.summaries import model_summary

        return model_summary(name)


class Recipes(PartKind):
    """The shipped recipes."""

    def names(self) -> Sequence[str]:
        from seqlab.recipes.read import shipped_recipes

        return list(shipped_recipes())

    def summary(self, name: str) -> str:
        from seqlab.recipes.read import recipe_summary

        return recipe_summary(name)


class Runs(PartKind):
    """The runs in runs/ below the current folder, each with its date and its first score."""

    def names(self) -> Sequence[str]:
        recipes = sorted(Path("runs").glob("*/recipe.toml")) if Path("runs").is_dir() else []
        return [path.parent.name for path in recipes]

    def summary(self, name: str) -> str:
        from seqlab.core.errors import SeqlabError
        from seqlab.runs.folder.layout import RECIPE, RESULTS
        from seqlab.runs.folder.manifest import read_manifest, verify_scored
        from seqlab.runs.folder.parse_results import parse_results

        folder = Path("runs") / name
        path = folder / RESULTS
        date = time.strftime(DATE, time.localtime((folder / RECIPE).stat().st_mtime))
        if not path.is_file():
            return f"{date}  not finished; resume with: seqlab train --resume {quoted(folder)}"
        try:
            verify_scored(folder, RESULTS, read_manifest(folder))
            results = parse_results(path.read_text(encoding="utf-8"))
            return f"{_date(results) or date}  {_first_score(results)}"
        except (SeqlabError, OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            return (
                f"{date}  results are damaged or from an earlier version; rewrite them with: seqlab train --resume"
                f" {quoted(folder)}"
            )


RUNS = "runs"
DATE = "%Y-%m-%d %H:%M"
KINDS: dict[str, PartKind] = {
    "tasks": RegisteredParts(
        "task", "seqlab train FILE --task {}", "seqlab.recipes.task_registry", "registered_tasks"
    ),
    "models": Models("model", "seqlab train FILE --model {}"),
    "cells": Cells("cell", "seqlab train FILE --model {}", "seqlab.cells.registry", "cells"),
    "attention": RegisteredParts(
        "attention", "seqlab explain {}", "seqlab.attention.registry", "score_functions"
    ),
    "positions": RegisteredParts(
        "position",
        "seqlab train FILE --model transformer model.positions={}",
        "seqlab.positions.registry",
        "positional_encodings",
    ),
    "optimizers": RegisteredParts(
        "optimizer",
        "seqlab train FILE training.optimizer={}",
        "seqlab.training.optimizers.registry",
        "optimizers",
    ),
    "tokens": RegisteredParts(
        "token", "seqlab train FILE tokens.kind={}", "seqlab.tokens.registry", "tokenizers"
    ),
    "formats": RegisteredParts(
        "format", "seqlab train FILE data.format={}", "seqlab.sources.formats.registry", "source_formats"
    ),
    "metrics": RegisteredParts(
        "metric", "seqlab train FILE evaluation.metrics={}", "seqlab.metrics.registry", "metrics"
    ),
    "datasets": RegisteredParts("dataset", "seqlab train {}", "seqlab.datasets.base", "datasets"),
    "recipes": Recipes("recipe", "seqlab train {} --dry-run"),
    "studies": RegisteredParts("study", "seqlab study {}", "seqlab.studies.base", "studies"),
    RUNS: Runs("run", "seqlab evaluate {}"),
}


def options_of(settings: type[Settings]) -> str:
    """The names of a part's options in one sentence."""
    return f"Options: {', '.join(name for name in settings.model_fields if name != 'kind')}."


def _date(results: dict[str, Any]) -> str:
    """The minute in which a run was scored, as its results say."""
    return str(results.get("provenance", {}).get("created", ""))[: len("2026-01-31 23:59")]


def _first_score(results: dict[str, Any]) -> str:
    if imported := results.get("training", {}).get("imported"):
        return f"imported: {imported['family']}, {int(imported['parameters']):,} parameters"
    splits = results["splits"]
    split = "test" if "test" in splits else "valid"
    score = splits[split]["scores"][0]
    return f"{split} {score['name']} {float(score['value']):.4f}"
