"""Check that runs can be compared, and open the data that all of them are scored on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seqlab.core.errors import UsageError, listed
from seqlab.runs.data import RunData, open_data, open_further_data
from seqlab.runs.run import NEW_DATA, Run
from seqlab.sources.base import Source

Parts = dict[int, dict[str, Source]]
"""The parts of the data of each run, by the `id` of the run; the scored part is one of them."""


def check_comparable(runs: Sequence[Run]) -> None:
    """Require the same task and, if the task has labels or tags, the same names."""
    tasks = {run.recipe.task for run in runs}
    if len(tasks) > 1:
        differences = listed([f"{run.folder.name}: {run.recipe.task}" for run in runs])
        raise UsageError(f"the runs have different tasks ({differences}).", cure="Compare runs of one task.")
    first = _labels(runs[0])
    for run in runs[1:]:
        labels = _labels(run)
        if set(labels) != set(first):
            odd = sorted(set(labels) ^ set(first))
            differences = (
                f"only one of {runs[0].folder.name} and {run.folder.name} has"
                f" {listed([repr(name) for name in odd])}"
            )
            raise UsageError(
                f"the runs have different labels: {differences}.",
                cure="Train both on data with the same labels.",
            )


def open_common(runs: Sequence[Run], *, data: str | Path | None) -> tuple[str, Parts]:
    """Open the split to score for each run: new data, or the test part (else the validation part) that all
    runs share.
    """
    opened: list[RunData | None] = [open_data(run.recipe) if run.recipe.data.train else None for run in runs]
    if data is not None:
        trained: list[dict[str, Source]] = [
            {name: part for name, part in own_data.parts.items() if name != "test"} if own_data else {}
            for own_data in opened
        ]
        return NEW_DATA, {
            id(run): {**parts, NEW_DATA: open_further_data(run.recipe, str(data))}
            for run, parts in zip(runs, trained, strict=True)
        }
    split = next(
        (
            name
            for name in ("test", "valid")
            if all(own_data is not None and name in own_data.parts for own_data in opened)
        ),
        "",
    )
    if not split:
        raise UsageError(
            "the runs have no held-out data in common.",
            cure="Pass data to score all of them on: --data FILE",
        )
    fingerprints = [own_data.parts[split].fingerprint() for own_data in opened if own_data is not None]
    for run, fingerprint in zip(runs[1:], fingerprints[1:], strict=True):
        if fingerprint != fingerprints[0]:
            seeds = runs[0].recipe.training.seed != run.recipe.training.seed
            why = (
                " They held out different rows, because their seeds differ (set data.seed to hold out the same rows)."
                if seeds
                else ""
            )
            raise UsageError(
                f"{runs[0].folder.name} and {run.folder.name} have different {split} data.{why}",
                cure="Pass data to score both on, which neither was trained on: --data FILE",
            )
    return split, {
        id(run): own_data.parts for run, own_data in zip(runs, opened, strict=True) if own_data is not None
    }


def _labels(run: Run) -> list[str]:
    return run.codec.label_names()
