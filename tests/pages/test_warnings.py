"""Warnings at the top of a page: ranked, at most a handful shown, the rest folded."""

from __future__ import annotations

import re

from seqlab.pages.page import render_page
from seqlab.pages.warnings import MAX_SHOWN, rank_warnings

MANY = [
    "train: 12 texts repeat an earlier one",
    "valid: 2 texts repeat an earlier one",
    "test: 2 texts repeat an earlier one",
    "train: 1 text is nearly identical to an earlier one, the first at a.csv, line 3",
    "test: 3 texts also occur in train, the first at a.csv, line 9",
    "test: 4 texts also occur in train, ignoring case, the first at a.csv, line 4",
    "train: 5 of 90 sequences are longer than 512 steps and are truncated; set data.max_length=0 to keep them whole",
    "valid: 1 of 9 sequences is longer than 512 steps and is truncated",
    "labels 'Pos' and 'pos' differ only in case",
    "skipped 7 rows, the first: a.csv, line 2",
    "something new",
    "the model does not beat its baseline: accuracy 0.5",
]


def page(warnings: list[str]) -> str:
    return render_page(title="t", subtitle="", created="", notices=warnings, sections=[])


def test_what_spoils_the_result_comes_first_and_each_kind_is_shown_once() -> None:
    shown, folded = rank_warnings(MANY)
    assert len(shown) == MAX_SHOWN
    assert sorted(shown + folded) == sorted(MANY)
    assert [re.split(r"[ :]", sentence)[-1] for sentence in shown[:1]] == ["0.5"]
    assert "also occur in train" in shown[1]
    assert "labels" in shown[2]
    assert "skipped" in shown[3]
    assert "12 texts repeat" in shown[4]


def test_a_page_shows_a_handful_and_folds_the_rest() -> None:
    text = page([*MANY, MANY[0]])  # said twice
    box, details = text.split("<details>")
    assert "<b>12 warnings</b>" in box
    assert box.count("<li>") == MAX_SHOWN
    assert details.count("<li>") == len(MANY) - MAX_SHOWN
    assert "<summary>7 more</summary>" in details


def test_few_warnings_are_all_shown_and_one_is_no_plural() -> None:
    assert "<details>" not in page(MANY[:MAX_SHOWN])
    assert "<b>1 warning</b>" in page(MANY[:1])
    assert "warning" not in page([]).split("<body>")[1]
