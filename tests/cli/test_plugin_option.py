"""--plugin FILE: loaded before the command, wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.cli.main import main
from seqlab.datasets.base import datasets


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    path = tmp_path / "my_data.py"
    path.write_text(
        "from seqlab.datasets.base import datasets\n\n\n@datasets.register('plugged')\n"
        "class Plugged:\n    'Data from a plug-in.'\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("place", ["before", "after", "equals"])
def test_parts_of_a_file_are_there_for_the_command(
    place: str, plugin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {
        "before": ["--plugin", str(plugin), "list", "datasets"],
        "after": ["list", "datasets", "--plugin", str(plugin)],
        "equals": ["list", f"--plugin={plugin}", "datasets"],
    }[place]
    try:
        with pytest.raises(SystemExit) as ended:
            main(words)
    finally:
        datasets._parts.pop("plugged", None)
    assert ended.value.code in (0, None)
    assert "plugged  " in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--plugin", "none.py", "list"], ["list", "--plugin"]])
def test_a_file_that_is_missing_is_said(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "none.py" in error or "--plugin" in error
