"""The page of related work: every work that the lectures point to says what is there, here and not here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.check_each import check_each
from tests.docs.commands import commands

TEXT = (Path(__file__).parents[2] / "docs" / "related_work.md").read_text(encoding="utf-8")
WORKS = (
    "MIT 6.S191",
    "Kaggle",
    "TensorFlow",
    "Annotated Transformer",
    "Illustrated Transformer",
    "self-attention",
    "Transformer Explainer",
    "Dive into Deep Learning",
    "labml",
    "ReZero",
    "word_language_model",
    "Hugging Face",
    "NeuralTalk2",
    "WMT",
    "IWSLT",
    "UvA",
    "METEOR",
    "G-Eval",
)
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
COMPARED = {title: body for title, body in SECTIONS.items() if "**There**" in body}


@pytest.mark.spec(182)
def test_every_work_that_the_lectures_point_to_has_a_section() -> None:
    titles = " ".join(COMPARED)
    assert [work for work in WORKS if work not in titles] == []


@pytest.mark.spec(182)
def test_every_section_says_what_is_there_here_and_missing_and_how_to_run_it() -> None:
    check_each(sorted(COMPARED), section_is_complete)


def section_is_complete(title: str) -> None:
    body = COMPARED[title]
    assert [part for part in ("**There**", "**Here**", "**Not here**") if part not in body] == []
    assert commands(body)


def test_the_table_at_the_top_leads_to_every_section() -> None:
    listed = re.findall(r"^\| \[(.+?)\]\(#", TEXT, re.M)
    assert listed == list(COMPARED)
