"""Train with several seeds, to separate the quality of a model from chance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.core.notify import Notify, ignore
from seqlab.metrics.seeds import SeedSummary, summarize_seeds
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.sweep import FORMAT, Begin, Watch, plan_seeds, train_planned, write_plan

SEEDS = "seeds.json"


@dataclass(frozen=True)
class SeedResults:
    """The runs of all seeds, and a summary of every score."""

    path: Path
    split: str
    runs: list[Run]
    scores: dict[str, SeedSummary]

    def sentences(self) -> list[str]:
        """Describe each score in one line."""
        sentences = []
        for name, score in self.scores.items():
            text = f"{name} {score.mean:.4f} on average over {len(score.values)} seeds"
            if score.deviation is not None and score.low is not None and score.high is not None:
                text += (
                    f", standard deviation {score.deviation:.4f}, 95% CI of the mean {score.low:.4f}"
                    f" to {score.high:.4f} (Student's t)"
                )
            sentences.append(text)
        return sentences

    def as_json(self) -> dict[str, Any]:
        return {
            "split": self.split,
            "runs": [
                {
                    "run": str(run.folder),
                    "seed": run.recipe.training.seed,
                    "scores": {name: score.as_json() for name, score in run.results.items()},
                }
                for run in self.runs
            ],
            "over_seeds": {name: score.as_json() for name, score in self.scores.items()},
        }


def train_seeds(
    what: str,
    settings: Sequence[str],
    count: int,
    *,
    base: Path,
    values: Mapping[str, Any] | None = None,
    task: str = "",
    model: str = "",
    watch: Watch = nullcontext,
    on_stage: Notify = ignore,
    begin: Begin = lambda _, __: None,
) -> SeedResults:
    """Train BASE-seed1, BASE-seed2, …; finished runs are not trained again.

    BASE-seeds/seeds.json holds the results so far.
    """
    if count < 2:
        raise UsageError(
            f"--seeds {count} is too few to measure the variation.",
            cure="Use at least 2 seeds; 5 are common.",
        )
    recipe, _ = find_recipe(what, list(settings), task=task, model=model, values=values)
    planned = plan_seeds(
        recipe,
        settings,
        count,
        name=base.name,
        folder=lambda seed: base.with_name(f"{base.name}-seed{seed}"),
        values=values,
        model=model,
    )
    path = base.with_name(f"{base.name}-seeds") / SEEDS
    plan = {
        "what": what,
        "settings": list(settings),
        "values": dict(values or {}),
        "task": task,
        "model": model,
        "seeds": count,
    }
    write_plan(path, plan, [training.folder for training in planned])
    runs: list[Run] = []
    for training in planned:
        runs.append(train_planned(what, training, task=task, watch=watch, on_stage=on_stage, begin=begin))
        results = _results(path, runs)
        write_whole(
            path,
            json.dumps({"format": FORMAT, "plan": plan, **results.as_json()}, indent=1, ensure_ascii=False),
        )
    return results


def _results(path: Path, runs: list[Run]) -> SeedResults:
    first = runs[0].results
    scores = {
        name: summarize_seeds([run.results[name].value for run in runs])
        for name in first
        if all(name in run.results for run in runs)
    }
    return SeedResults(path, first.split, list(runs), scores)
