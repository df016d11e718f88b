"""docs/architecture.md tells the truth: one example passes the named functions in the named order."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import seqlab

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
PACKAGE = str(Path(seqlab.__file__).parent)
WALK = re.compile(r"<!-- walk: (\w+) (\w+) -->\n((?:\|.*\n)+)")
ROW = re.compile(r"\| `([\w.]+)` \| ([\w/]+\.py) \|$", re.MULTILINE)


def walks() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """For each example and command: (file, function) of every row."""
    text = PAGE.read_text(encoding="utf-8")
    return {
        (example, command): [(file, function) for function, file in ROW.findall(table)]
        for example, command, table in WALK.findall(text)
    }


def record_calls(work: Any) -> tuple[Any, dict[tuple[str, str], int]]:
    """The result, and for every function of seqlab the number of its first call."""
    first_calls: dict[tuple[str, str], int] = {}

    def on_event(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            key = (code.co_filename[len(PACKAGE) + 1 :], code.co_qualname)
            first_calls.setdefault(key, len(first_calls))

    sys.setprofile(on_event)
    try:
        return work(), first_calls
    finally:
        sys.setprofile(None)


def write_data(example: str, folder: Path) -> Path:
    path = folder / f"{example}.tsv"
    if example == "review":
        rows = [f"a {'good' if number % 2 else 'bad'} film {number}\t{number % 2}" for number in range(200)]
        path.write_text("text\tlabel\n" + "\n".join(rows) + "\n", encoding="utf-8")
    else:
        rows = [f"a dog runs {number}\tein Hund {number} läuft" for number in range(300)]
        path.write_text("source\ttarget\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "options"),
    [("review", {"model": "lstm"}), ("pair", {"model": "gru", "task": "translation"})],
)
def test_the_walks_are_in_the_order_of_the_calls(
    example: str, options: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "cache"))
    data = write_data(example, tmp_path)
    run, train_calls = record_calls(
        lambda: seqlab.train(data, steps=3, threads=1, out=tmp_path / "run", verbose=False, **options)
    )
    _, predict_calls = record_calls(lambda: seqlab.load(run.folder).predict(["a dog runs"]))
    for command, calls in (("train", train_calls), ("predict", predict_calls)):
        rows = walks()[example, command]
        assert len(rows) > 5
        missing = [row for row in rows if row not in calls]
        assert not missing, f"{example} {command}: never called"
        assert rows == sorted(rows, key=calls.__getitem__)
