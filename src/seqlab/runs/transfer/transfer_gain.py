"""Measure the gain from transfer learning.

The same network is trained on the same labels, from random weights and from the weights of a run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.core.notify import Notify, ignore
from seqlab.metrics.paired_difference import PairedDifference
from seqlab.metrics.score import Score
from seqlab.runs.compare.compare import compare_groups
from seqlab.runs.train.sweep import FORMAT, Begin, PlannedRun, Watch, train_planned, write_plan

GAIN = "gain.json"
ALL = 0
"""Stands for all rows."""
NEW, LEARNED = "new", "learned"


@dataclass(frozen=True)
class TransferGain:
    """The first score of both runs on the same held-out rows, after training on this many labeled rows."""

    rows: int
    new: Score
    learned: Score
    difference: PairedDifference

    @property
    def called(self) -> str:
        return f"{self.rows:,}" if self.rows else "all"

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows or "all",
            NEW: self.new.as_json(),
            LEARNED: self.learned.as_json(),
            "gain": {
                **self.difference.as_json(),
                "sentence": self.difference.describe("fine-tuning", "training from scratch"),
            },
        }


def measure_gain(
    what: str,
    start: str,
    counts: Sequence[int],
    settings: Sequence[str],
    *,
    folder: Path,
    task: str = "",
    watch: Watch = nullcontext,
    on_stage: Notify = ignore,
    begin: Begin = lambda _, __: None,
) -> list[TransferGain]:
    """For every number of labeled rows (ALL for all), train FOLDER/ROWS-new and FOLDER/ROWS-learned.

    A smaller set of rows is a subset of every larger one.
    """
    if len(set(counts)) < len(counts) or any(count < 0 for count in counts) or not counts:
        raise UsageError(
            "the numbers of labeled rows must be positive and distinct.",
            where="--rows",
            cure="For example: --rows 100,1000,all",
        )
    plan = {"what": what, "start": start, "rows": list(counts), "settings": list(settings), "task": task}
    planned = {count: _pair(start, count, settings, folder) for count in counts}
    write_plan(
        folder / GAIN, plan, [training.folder for pair in planned.values() for training in pair.values()]
    )
    gains = []
    for count, pair in planned.items():
        runs = {
            weights: [train_planned(what, training, task=task, watch=watch, on_stage=on_stage, begin=begin)]
            for weights, training in pair.items()
        }
        comparison = compare_groups(runs)
        first = comparison.score_names[0]
        new, learned = (competitor.score(first) for competitor in comparison.competitors)
        gains.append(TransferGain(count, new, learned, comparison.differences[first][LEARNED]))
    write_whole(
        folder / GAIN,
        json.dumps(
            {"format": FORMAT, "plan": plan, "gains": [gain.as_json() for gain in gains]},
            indent=1,
            ensure_ascii=False,
        ),
    )
    return gains


def _pair(start: str, count: int, settings: Sequence[str], folder: Path) -> dict[str, PlannedRun]:
    """Plan the two runs on this many rows."""
    trainings = {}
    for weights in (NEW, LEARNED):
        name = f"{count or 'all'}-{weights}"
        values = {"start.run": start, "start.weights": weights, "data.train_rows": count}
        trainings[weights] = PlannedRun(name, folder / name, tuple(settings), values)
    return trainings
