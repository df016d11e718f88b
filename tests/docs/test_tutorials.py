"""Every task has a tutorial with the same parts, in the same order."""

from __future__ import annotations

import re
from pathlib import Path

from seqlab.tasks.spec import task_specs
from tests.check_each import check_each

FOLDER = Path(__file__).parents[2] / "docs" / "tutorials"
PARTS = [
    "The data",
    "Train",
    "Read the result",
    "Look at the mistakes",
    "Improve once",
    "Use it",
    "Next steps",
]


def test_every_task_has_a_tutorial() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == set(task_specs.names())


def test_every_tutorial_goes_from_the_file_to_a_model_in_use() -> None:
    check_each(sorted(FOLDER.glob("*.md")), has_its_parts, name=lambda path: path.name)


def has_its_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    titles = re.findall(r"^## (.*)$", text, re.M)
    assert [title for title in titles if title in PARTS] == PARTS
    assert set(titles) - set(PARTS) <= {"Reference"}
    assert re.search(r"^\$ seqlab train .*\n(.*\n)*?(test|valid): \w+ \d", text, re.M), "no result is shown"
    assert "seqlab.load(" in text
