from __future__ import annotations

import math
from pathlib import Path

import pytest

from seqlab.studies.base import Finding, studies
from seqlab.studies.kit.write_study import write_study
from tests.pages.reading import Page, pictures
from tests.studies.findings import CHEAP, quick

pytestmark = pytest.mark.slow  # experiments: short each, long together
NAMES = [name if name in CHEAP else pytest.param(name, marks=pytest.mark.long) for name in studies.names()]


def test_the_studies_of_the_lectures_are_there() -> None:
    wanted = {
        "moving_ball",
        "no_memory",
        "recall",
        "truncation",
        "depth",
        "clipping",
        "vanishing",
        "remedies",
        "lengths",
        "gru_or_lstm",
        "counting",
    }
    assert wanted | {"from_recurrence_to_attention", "abilities"} <= set(studies.names())


@pytest.mark.parametrize("name", NAMES)
def test_a_study_finds_a_sentence_with_numbers_and_a_curve_and_its_page_is_whole(
    name: str, tmp_path: Path
) -> None:
    found = quick(name)
    assert any(letter.isdigit() for letter in found.conclusion)
    assert found.claim.endswith(".")
    assert found.conclusion.endswith(".")
    assert len(found.rows) >= 2
    assert found.curves
    assert not any(
        isinstance(value, float) and math.isnan(value) for row in found.rows for value in row.values()
    )
    html = write_study(found, tmp_path, name=name, seed=0, quick=True).read_text(encoding="utf-8")
    page = Page(html)
    assert page.names() & {"script", "link", "iframe", "img"} == set()
    assert found.conclusion in page.text
    assert len(pictures(html)) >= len(found.curves) + len(found.figures)
    assert page.text.count(f"seqlab study {name} --quick") == 1
    assert sum(tag == "td" for tag, _ in page.tags) == len(found.rows) * len(found.columns)


@pytest.mark.parametrize("name", ["vanishing", pytest.param("counting", marks=pytest.mark.long)])
def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(name: str) -> None:
    again = studies.get(name)(seed=0, quick=True)
    assert again.rows == quick(name).rows
    assert quick(name, 1).rows != again.rows


def test_rows_with_different_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="different columns"):
        Finding(claim="", conclusion="", rows=[{"a": 1}, {"b": 2}])
