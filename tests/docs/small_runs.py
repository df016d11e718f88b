"""Trainings of documents, made small: two updates on few rows, whatever the page asks for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from seqlab.datasets.base import BuiltInDataset, datasets
from seqlab.metrics import bootstrap, paired_tests
from seqlab.recipes.recipe import Recipe
from seqlab.runs import data as run_data
from seqlab.runs.train import prepare
from seqlab.runs.train.filled_recipe import FilledRecipe, fill_recipe
from seqlab.sources.base import Source, TextSource
from seqlab.sources.in_memory import InMemoryRows, InMemoryText
from seqlab.sources.settings import DataSettings

STEPS = 2
MAX_ROWS = 80
MAX_CHARACTERS = 10_000
RESAMPLES = 39
"""The fewest whose 95% CI has its ends inside the resamples."""


def train_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every training of this process, from the command line and from Python, is short from now on."""
    monkeypatch.setattr(prepare, "fill_recipe", _fill_shortened)
    monkeypatch.setattr(run_data, "datasets", _FewRows())
    for module in (bootstrap, paired_tests):
        monkeypatch.setattr(module, "RESAMPLES", RESAMPLES)
        monkeypatch.setattr(module, "MIN_RESAMPLES", RESAMPLES)


def _fill_shortened(recipe: Recipe, **options: Any) -> FilledRecipe:
    return fill_recipe(shortened(recipe), **options)


def shortened(recipe: Recipe) -> Recipe:
    """The recipe with a budget of few updates on few rows; everything else is as the page says."""
    training = recipe.training
    limits = {
        name: min(getattr(training, name), STEPS)
        for name in ("evaluate_every", "average_every", "warmup_steps")
        if getattr(training, name)
    }
    recipe = recipe.changed("training", **limits, steps=STEPS, epochs=0, minutes=0, scale_with_budget=())
    return recipe.changed("data", max_rows=min(recipe.data.max_rows or MAX_ROWS, MAX_ROWS))


class _FewRows:
    """The registry of built-in datasets, each with a sample of its rows."""

    def __getattr__(self, name: str) -> Any:
        return getattr(datasets, name)

    def get(self, name: str) -> Any:
        return _Sampled(datasets.get(name))


@dataclass(frozen=True)
class _Sampled:
    """A class of built-in data whose splits are small."""

    kind: type[BuiltInDataset]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kind, name)

    def from_settings(self, settings: DataSettings) -> Any:
        dataset = self.kind.from_settings(settings)
        dataset.splits = lambda: _sampled_splits(self.kind, settings)  # type: ignore[method-assign]
        return dataset


@cache
def _sampled_splits(kind: type[BuiltInDataset], settings: DataSettings) -> dict[str, Source]:
    return {name: _sample(source) for name, source in kind.from_settings(settings).splits().items()}


def _sample(source: Source) -> Source:
    """Rows from all over the source, so that every class is among them."""
    if isinstance(source, TextSource):
        return InMemoryText(source.name, next(source.chunks(MAX_CHARACTERS)))
    rows = [row.values for row in source.rows()]
    return InMemoryRows(source.name, source.columns, rows[:: max(1, len(rows) // MAX_ROWS)])
