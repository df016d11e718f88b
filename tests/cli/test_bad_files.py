"""Every bad file through `seqlab train`: one message, exit code 2, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.sources.bad_files import BAD_FILES, BadFile


def everything_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.slow
@pytest.mark.parametrize("bad", BAD_FILES, ids=lambda bad: bad.name)
def test_a_bad_file_ends_in_words_and_nothing_is_written(
    bad: BadFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = everything_below(tmp_path)
    settings = [f"data.{name}={value}" for name, value in bad.settings.items()]
    ended = run(
        capsys,
        "train",
        bad.name,
        *settings,
        "training.steps=2",
        "training.threads=1",
        "model.hidden_size=4",
        "--quiet",
    )
    assert (ended.code, ended.out) == (2, ""), ended.err
    assert [word for word in bad.words if word not in ended.err] == [], ended.err
    assert bad.name in ended.err or any(name in ended.err for name in bad.beside)
    assert len(ended.err.splitlines()) <= 12
    assert "Traceback" not in ended.err
    assert everything_below(tmp_path) == before
