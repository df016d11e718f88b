"""What is a run worth to start from?

The same network on the same labels, from chance and from what was learned before.
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
from seqlab.metrics.paired import PairedDifference
from seqlab.metrics.score import Score
from seqlab.runs.compare.compare import compare_groups
from seqlab.runs.train.start import Say
from seqlab.runs.train.sweep import FORMAT, Begin, Wanted, Watch, keep_plan, train_wanted

GAIN = "gain.json"
ALL = 0
"""In place of a number of rows: all of them."""
NEW, LEARNED = "new", "learned"


@dataclass(frozen=True)
class Gain:
    """The first score of both runs on the same held-out rows, after learning from so many labelled ones."""

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
                "sentence": self.difference.describe("the start", "chance"),
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
    say: Say = lambda _: None,
    begin: Begin = lambda _, __: None,
) -> list[Gain]:
    """For every number of labelled rows (ALL for all), train FOLDER/ROWS-new and FOLDER/ROWS-learned.

    A smaller set of rows is a part of every larger one.
    """
    if len(set(counts)) < len(counts) or any(count < 0 for count in counts) or not counts:
        raise UsageError(
            "the numbers of labelled rows must be positive and different.",
            where="--rows",
            cure="For example: --rows 100,1000,all",
        )
    plan = {"what": what, "start": start, "rows": list(counts), "settings": list(settings), "task": task}
    wanted = {count: _pair(start, count, settings, folder) for count in counts}
    keep_plan(folder / GAIN, plan, [one.folder for pair in wanted.values() for one in pair.values()])
    found = []
    for count, pair in wanted.items():
        runs = {
            weights: [train_wanted(what, one, task=task, watch=watch, say=say, begin=begin)]
            for weights, one in pair.items()
        }
        comparison = compare_groups(runs)
        first = comparison.score_names[0]
        new, learned = (competitor.score(first) for competitor in comparison.competitors)
        found.append(Gain(count, new, learned, comparison.differences[first][LEARNED]))
    write_whole(
        folder / GAIN,
        json.dumps(
            {"format": FORMAT, "plan": plan, "gains": [gain.as_json() for gain in found]},
            indent=1,
            ensure_ascii=False,
        ),
    )
    return found


def _pair(start: str, count: int, settings: Sequence[str], folder: Path) -> dict[str, Wanted]:
    """The two trainings on so many rows."""
    found = {}
    for weights in (NEW, LEARNED):
        name = f"{count or 'all'}-{weights}"
        values = {"start.run": start, "start.weights": weights, "data.train_rows": count}
        found[weights] = Wanted(name, folder / name, tuple(settings), values)
    return found
