"""The pages about attention: every score has one, and every example has its output below it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from seqlab.attention.attend import Attention
from seqlab.attention.base import score_functions
from seqlab.attention.dot import DotScore
from seqlab.attention.local import PredictedWindow
from seqlab.attention.sparse import Sparsemax
from tests.check_each import check_each
from tests.docs.commands import commands
from tests.docs.pages import page_writer
from tests.docs.story import every_example_has_its_output

DOCS = Path(__file__).parents[2] / "docs"
INTERNALS = DOCS / "internals" / "attention.md"
FOLDER = DOCS / "concepts" / "attention"
INDEX = FOLDER / "index.md"
PAGES = sorted({*FOLDER.glob("*.md")} - {INDEX})


def test_every_example_has_its_output_below_it() -> None:
    check_each(
        [*PAGES, INTERNALS],
        every_example_has_its_output,
        name=lambda path: path.relative_to(DOCS).as_posix(),
    )


def test_every_score_has_a_page_with_its_file_and_a_line_in_the_table() -> None:
    check_each(score_functions.names(), score_has_a_page)


def score_has_a_page(name: str) -> None:
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert f"`src/seqlab/attention/{name}.py`" in page
    assert f"| [{name}]({name}.md) | " in INDEX.read_text(encoding="utf-8")


def test_every_page_is_reached_from_the_index_and_leads_back() -> None:
    index = INDEX.read_text(encoding="utf-8")
    for path in PAGES:
        assert f"({path.name}" in index
        assert "(index.md" in path.read_text(encoding="utf-8")


def test_the_picture_of_alignments_shows_what_the_layers_compute() -> None:
    drawing = page_writer("concept_pictures")
    scores = torch.tensor([[drawing.SCORES]])
    sparse = Sparsemax()(scores)[0, 0].tolist()
    assert drawing.sparsemax(drawing.SCORES) == pytest.approx(sparse, abs=1e-6)
    window = PredictedWindow(1, reach=2)
    with torch.no_grad():
        window.inner.weight.fill_(100)
        window.outer.weight.fill_(math.log(0.7 / 0.3))  # 8 · σ(…) = 5.6
    _, alignment = Attention(DotScore(1, 1), window=window)(torch.ones(1, 1, 1), scores.transpose(1, 2))
    expected = alignment[0, 0].tolist()
    assert drawing.local_weights(drawing.SCORES, center=5.6, reach=2) == pytest.approx(expected, abs=1e-6)


def test_every_page_has_a_command_or_says_that_there_is_none() -> None:
    check_each(PAGES, has_a_command, name=lambda path: path.name)


def has_a_command(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert commands(text) or "available in Python only" in text


def test_every_file_of_the_room_is_in_its_table() -> None:
    room = INTERNALS.read_text(encoding="utf-8")
    files = {path.name for path in (DOCS.parent / "src" / "seqlab" / "attention").glob("*.py")} - {
        "__init__.py"
    }
    assert {name for name in files if f"`{name}`" not in room} == set()
