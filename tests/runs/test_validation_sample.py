"""Where validating all rows would take too much of a time budget, training validates on some of them, always the
same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seqlab.runs.train import start, validation_sample
from seqlab.runs.train.prepare import Prepared
from seqlab.tasks.objective import Objective
from tests.runs import toy_runs
from tests.runs.killed_training import KillAt, Killed, prepare_toy


@pytest.fixture
def _slow_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A validation takes 0.05 s, and 0.1 s for every row; nothing waits for it."""
    monkeypatch.setattr(validation_sample, "SIZES", {"rows": (5, 10, 20), "characters": (50, 100, 200)})
    monkeypatch.setattr(validation_sample, "FEWEST", {"rows": 5, "characters": 50})
    monkeypatch.setattr(
        validation_sample, "time_validation", lambda _, objective: 0.05 + 0.1 * len(lines_of(objective))
    )


def lines_of(objective: Objective[Any, Any]) -> list[int]:
    return [row.line for row in objective.splits["valid"].rows.rows()]


def prepared(folder: Path, *settings: str, out: str = "run") -> Prepared:
    folder.mkdir(exist_ok=True)
    return prepare_toy("classifier", folder, "data.valid_share=0.5", *settings, out=out)


@pytest.mark.slow
@pytest.mark.usefixtures("_slow_validation")
@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (["training.minutes=1"], 10),  # 2% of a minute is 1.2 s; 5 rows took 0.55 s
        (["training.minutes=1", "training.ema_decay=0.9"], 5),  # two sets of weights are validated
        (["training.minutes=0.01"], 5),  # at least
        (["training.minutes=60"], 0),
        ([], 0),
    ],
)
def test_a_validation_has_the_rows_that_two_percent_of_the_time_allow(
    tmp_path: Path, words: list[str], rows: int
) -> None:
    made = prepared(tmp_path, *words)
    whole = [row.line for row in made.splits["valid"].rows.rows()]
    assert len(whole) > 50
    lines = lines_of(made.objective)
    assert made.budget.validation_rows == rows
    assert len(lines) == (rows or len(whole))
    assert set(lines) <= set(whole)
    assert any(f"{rows} of {len(whole)} rows" in reason for reason in made.reasons) == bool(rows)


def untimed(folder: Path) -> dict[str, Any]:
    """What must not depend on interruptions; a time budget also notes how long everything took."""
    facts = toy_runs.fingerprint(folder)
    del facts["state"]["budget"]
    return facts


@pytest.mark.slow
@pytest.mark.usefixtures("_slow_validation")
def test_a_resumed_run_validates_on_the_same_rows_and_ends_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 17 steps are over long before the minute, so the clock decides nothing
    whole = start.train(prepared(tmp_path, "training.minutes=1", out="whole"))
    stopped = prepared(tmp_path, "training.minutes=1", out="stopped")
    with pytest.raises(Killed):
        start.train(stopped, callback=KillAt(8))
    monkeypatch.setattr(validation_sample, "affordable_rows", None)  # the checkpoint knows
    resumed = start.resume(stopped.folder)
    assert untimed(resumed.folder) == untimed(whole.folder)
    assert whole.results.raw["training"]["validation_rows"] == 10
