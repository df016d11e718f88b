"""Every bad file ends in one error with the right words, in bounded time and memory."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.series import Series
from tests.sources.bad_files import BAD_FILES, BadFile
from tests.sources.guessing import guess

READABLE = [bad for bad in BAD_FILES if bad.layer == "task"]
UNREADABLE = [bad for bad in BAD_FILES if bad.layer == "sources"]


def read_all(path: Path, settings: DataSettings) -> int:
    """What every user of a source does: open it, guess the columns, read all rows."""
    source = open_source(path, settings)
    found = guess(source, settings=settings)
    if found.sequence:
        source = Series(source, sequence=found.sequence, label=found.label, features=found.features)
    return sum(1 for _ in source.rows())


@pytest.mark.parametrize("bad", UNREADABLE, ids=lambda bad: bad.name)
def test_a_bad_file_is_refused_with_words(bad: BadFile, tmp_path: Path) -> None:
    path = bad.write(tmp_path)
    before = sorted(tmp_path.iterdir())
    began = time.perf_counter()
    with pytest.raises(DataError) as caught:
        read_all(path, DataSettings.model_validate(bad.settings))
    message = str(caught.value)
    assert time.perf_counter() - began < 5  # a second or so; the machine may be busy
    assert [word for word in bad.words if word not in message] == [], message
    assert bad.name in message
    assert len(message.splitlines()) <= 12
    assert "\0" not in message
    assert caught.value.cure or "skip" in bad.settings.values()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "bad", [bad for bad in READABLE if bad.name not in ("constant.csv",)], ids=lambda bad: bad.name
)
def test_what_only_a_task_can_notice_is_read_without_complaint(bad: BadFile, tmp_path: Path) -> None:
    assert read_all(bad.write(tmp_path), DataSettings()) >= 1


def test_there_are_at_least_forty_bad_files_with_different_names() -> None:
    assert len({bad.name for bad in BAD_FILES}) == len(BAD_FILES) >= 40
