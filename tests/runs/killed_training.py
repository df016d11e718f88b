"""A toy training that is prepared quickly, and ended as a kill ends it."""

from __future__ import annotations

from pathlib import Path

from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.train.prepare import Prepared, prepare
from seqlab.training.base import StepReport, Validation
from tests.runs import toy_runs
from tests.runs.source_runs import hurried


class Killed(Exception):
    """Ends a training without saving anything."""


class KillAt:
    """A callback that ends the training at an update."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step(self, report: StepReport) -> None:
        if report.step == self.step:
            raise Killed

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None: ...


def prepare_toy(kind: str, folder: Path, *settings: str, out: str = "run") -> Prepared:
    """A training of `toy_runs` with further settings, for the folder OUT below `folder`."""
    data = toy_runs.write_data(kind, folder)
    recipe, _ = find_recipe(str(data), [*toy_runs.SETTINGS[kind], "training.threads=1", *settings])
    with hurried():
        return prepare(recipe, out=str(folder / out))
