"""Files so large that reading them uses up a time budget are named before they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seqlab.recipes.read import check
from seqlab.runs.train import reading_time
from seqlab.runs.train.prepare import prepare
from seqlab.runs.train.reading_time import BYTES_PER_SECOND, reading_warnings, size_of


def warnings(path: Path | str, **training: float) -> list[str]:
    recipe = check({"data": {"train": str(path)}, "training": training}, where="test")
    return reading_warnings(recipe)


def write(path: Path, seconds: float) -> Path:
    """A file without content that takes so long to read, by its size."""
    path.touch()
    os.truncate(path, int(seconds * BYTES_PER_SECOND))
    return path


def test_a_file_that_takes_more_than_half_of_the_time_is_said_with_the_minutes_it_needs(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "large.csv", 120)
    [warning] = warnings(path, minutes=3)
    assert all(fact in warning for fact in ("180.0 MB", "2 of 3 minutes", "10%", "--minutes 5"))
    assert warnings(path, minutes=4) == []
    assert "of 1 minute " in warnings(path, minutes=1)[0]
    assert warnings(path) == []  # five minutes when nothing is said
    assert warnings(path, steps=10) == []
    assert warnings(write(tmp_path / "huge.csv", 160)) != []


def test_folders_and_compressed_files_count_what_is_in_them(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"x" * 10)
    (folder / "inner" / "b.txt.gz").write_bytes(b"x" * 5)
    assert size_of(folder) == 10 + 4 * 5
    assert size_of(tmp_path / "missing") == 0
    assert warnings("languages", minutes=0.001) == []  # built in


def test_it_is_said_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_time, "BYTES_PER_SECOND", 1)
    path = tmp_path / "notes.csv"
    path.write_text("text,label\n" + "good,yes\n" * 50, encoding="utf-8")
    heard: list[str] = []
    with pytest.raises(InterruptedError):
        prepare(
            check({"data": {"train": str(path)}, "training": {"minutes": 1}}, where="test"),
            on_stage=lambda text: (heard.append(text), _stop(text))[0],
            on_note=heard.append,
        )
    assert "--minutes" in heard[0]
    assert heard[1:] == ["reading the data"]


def _stop(text: str) -> None:
    if text == "reading the data":
        raise InterruptedError
