"""Train and compare several models with the same data, budget and seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.core.notify import Notify, ignore
from seqlab.runs.compare.compare import Comparison, compare_groups, reject_unknown_reference
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.sweep import FORMAT, Begin, PlannedRun, Watch, plan_seeds, train_planned, write_plan

COMPARISON_PLAN = "compare.json"


def compare_models(
    what: str,
    models: Sequence[str],
    settings: Sequence[str],
    *,
    seeds: int = 1,
    folder: Path,
    values: Mapping[str, Any] | None = None,
    task: str = "",
    against: str = "",
    watch: Watch = nullcontext,
    on_stage: Notify = ignore,
    begin: Begin = lambda _, __: None,
) -> Comparison:
    """Train every model with every seed into FOLDER/MODEL-seedN, then compare them with the first one or
    with `against`.
    """
    if len(models) < 2 or len(set(models)) < len(models):
        raise UsageError(
            "a comparison needs two different models.",
            cure="For example: --models lstm,cnn. All models: seqlab list models",
        )
    reject_unknown_reference(against, models)
    plan = {
        "what": what,
        "models": list(models),
        "settings": list(settings),
        "values": dict(values or {}),
        "task": task,
        "seeds": seeds,
    }
    planned = {
        model: _trainings(what, model, settings, seeds, values=values, task=task, folder=folder)
        for model in models
    }
    write_plan(
        folder / COMPARISON_PLAN,
        plan,
        [training.folder for trainings in planned.values() for training in trainings],
    )
    groups: dict[str, list[Run]] = {model: [] for model in models}
    for place in range(seeds):  # seed by seed, so that all models can be compared early
        for model in models:
            groups[model].append(
                train_planned(
                    what, planned[model][place], task=task, watch=watch, on_stage=on_stage, begin=begin
                )
            )
    comparison = compare_groups(groups, against=against)
    write_whole(
        folder / COMPARISON_PLAN,
        json.dumps(
            {"format": FORMAT, "plan": plan, **comparison.as_json()},
            indent=1,
            ensure_ascii=False,
            default=str,
        ),
    )
    return comparison


def _trainings(
    what: str,
    model: str,
    settings: Sequence[str],
    seeds: int,
    *,
    values: Mapping[str, Any] | None,
    task: str,
    folder: Path,
) -> list[PlannedRun]:
    recipe, _ = find_recipe(what, list(settings), task=task, model=model, values=values)
    return plan_seeds(
        recipe,
        settings,
        seeds,
        name=model,
        folder=lambda seed: folder / f"{model}-seed{seed}",
        values=values,
        model=model,
    )
