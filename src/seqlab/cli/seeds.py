"""seqlab train --seeds N: the same training with several seeds, and statistics over them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, say, suggest
from seqlab.pages.numbers import count_of, format_duration

if TYPE_CHECKING:
    from seqlab.recipes.recipe import Recipe
    from seqlab.runs.train.prepare import Prepared


def train_with_seeds(
    what: str,
    settings: list[str],
    seeds: int,
    *,
    values: Mapping[str, Any],
    task: str,
    model: str,
    out: str,
    quiet: bool,
    as_json: bool,
) -> None:
    """Train, and print one line per seed and the statistics over all seeds."""
    recipe, name = checked(what, settings, values=values, task=task, model=model)

    from seqlab.cli.progress import watch_training
    from seqlab.runs.train.seeds import train_seeds
    from seqlab.runs.train.start import Interrupted

    base = Path(out) if out else Path("runs") / (name or name_of(recipe, model))
    begin = silent if quiet else announced
    try:
        results = train_seeds(
            what,
            settings,
            seeds,
            base=base,
            values=values,
            task=task,
            model=model,
            watch=lambda: watch_training(quiet=quiet),
            begin=begin,
        )
    except Interrupted as stopped:
        stopped_at(stopped.folder, stopped.step)
    if as_json:
        return answer_json({"seeds": str(results.path), **results.as_json()})
    for run in results.runs:
        score = next(iter(run.results.values()))
        answer_sentences(f"seed {run.recipe.training.seed}: {results.split} {score.describe()}")
    for sentence in results.sentences():
        answer_sentences(f"{results.split}: {sentence}")
    answer(f"results: {results.path}")
    first, second = (quoted(run.folder) for run in results.runs[:2])
    return suggest([f"seqlab compare {first} {second}", f"seqlab evaluate {first}"])


def checked(
    what: str, settings: list[str], *, values: Mapping[str, Any], task: str, model: str
) -> tuple[Recipe, str]:
    """Reject wrong settings and missing files at once, before torch is imported."""
    from seqlab.runs.data import require_files
    from seqlab.runs.find_recipe import find_recipe

    recipe, name = find_recipe(what, settings, task=task, model=model, values=values)
    require_files(recipe)
    return recipe, name


def name_of(recipe: Recipe, model: str) -> str:
    """A name for a group of runs: that of the data, and of the model if one is given."""
    from seqlab.runs.train.prepare import data_name

    return "-".join(filter(None, (data_name(recipe), model)))


def silent(name: str, prepared: Prepared | None) -> None:
    """Print nothing when a training starts."""


def announced(name: str, prepared: Prepared | None) -> None:
    """Print one line when a training starts."""
    if prepared is None:
        return say(f"{name}: resuming")
    forecast, steps = prepared.forecast, prepared.budget.total_steps
    seconds = (
        ""
        if forecast is None
        else (
            " in about"
            f" {format_duration(min(steps * forecast.step_seconds, prepared.budget.seconds or float('inf')))}"
        )
    )
    for warning in prepared.warnings:
        say(f"  WARNING: {warning}")
    size = "" if forecast is None else f"{forecast.num_parameters:,} parameters, "
    return say(f"{name}: {size}{count_of(steps, 'step')}{seconds}, folder {prepared.folder}")


def stopped_at(folder: Path, step: int) -> NoReturn:
    """Say how to continue, and exit."""
    say(f"Stopped and saved {folder} after step {step:,}. Run the same command again to continue.")
    sys.exit(130)
