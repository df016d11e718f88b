"""One sequence per row: columns become steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.base import STEPS
from seqlab.sources.open_dataset import open_inputs
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.wide_series import WideSeries
from seqlab.tasks.spec import find_spec
from tests.sources.guessing import guess

NAMES = [f"t{at}" for at in range(9)]


def write(path: Path, header: str, *rows: str) -> Path:
    path.write_text("\n".join([*([header] if header else []), *rows]) + "\n")
    return path


def recordings(count: int) -> list[str]:
    return [
        f"r{n},{','.join(f'{n + at / 10:.1f}' for at in range(9))},{'run' if n % 2 else 'sit'}"
        for n in range(count)
    ]


def test_numbered_columns_are_the_steps_and_the_other_one_is_the_label(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", f"recording,{','.join(NAMES)},activity", *recordings(30))
    found = guess(open_source(path, DataSettings()))
    assert (found.task, found.label, found.sequence, found.features) == (
        "classification",
        "activity",
        "",
        tuple(NAMES),
    )
    inputs = list(open_inputs(str(path), DataSettings(features=tuple(NAMES)), find_spec("classification")))
    assert inputs[3] == [[3 + at / 10] for at in range(9)]


def test_without_a_header_the_first_column_of_classes_is_the_label(tmp_path: Path) -> None:
    rows = [f"{n % 3}," + ",".join(f"{n + at / 7:.3f}" for at in range(9)) for n in range(30)]
    found = guess(open_source(write(tmp_path / "a.csv", "", *rows), DataSettings()))
    assert (found.task, found.label, found.features) == (
        "classification",
        "1",
        tuple(map(str, range(2, 11))),
    )


def test_empty_cells_at_the_end_are_no_steps_and_others_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "a1,a2,a3,y", "1,2,,p", "1,,3,q")
    source = open_source(path, DataSettings(bad_rows="stop"))
    rows = WideSeries(source, features=["a1", "a2", "a3"], label="y").rows()
    assert next(rows).values == {STEPS: [[1.0], [2.0]], "y": "p"}
    with pytest.raises(DataError, match=r"line 3, column 'a2'"):
        next(rows)


def test_a_few_measurements_are_no_series(tmp_path: Path) -> None:
    rows = [f"{n / 7:.3f},{n / 9:.3f},{'a' if n % 2 else 'b'}" for n in range(30)]
    with pytest.raises(DataError, match=r"data\.sequence=NAME"):
        guess(open_source(write(tmp_path / "a.csv", "x1,x2,kind", *rows), DataSettings()))
