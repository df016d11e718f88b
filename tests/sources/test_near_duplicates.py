"""Nearly equal texts are those that comparing every pair finds; repeated passages are those that sets of
substrings find.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.survey import near_duplicates, passages
from seqlab.sources.survey.near_duplicates import ALIKE, Sketches, alike, candidates
from seqlab.sources.survey.passages import WINDOW, Passages
from seqlab.sources.survey.row_equality import content_of, plain_text_of
from seqlab.sources.survey.survey import survey
from tests.sources.test_survey import part

WORDS = [
    "river",
    "house",
    "old",
    "green",
    "walks",
    "sings",
    "never",
    "always",
    "window",
    "letter",
    "morning",
    "paper",
    "table",
    "garden",
]


def texts(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=40)) for _ in range(count)]


def changed(text: str, share: float, chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) if chance.random() < share else word for word in text.split())


def test_the_pairs_are_those_that_comparing_all_finds() -> None:
    chance = random.Random(5)
    first = texts(60, seed=1)
    second = [
        changed(text, share, chance) for text, share in zip(first[:40], np.linspace(0, 0.3, 40), strict=True)
    ] + texts(20, seed=2)
    plain = [[plain_text_of(text) for text in part] for part in (first, second)]
    sketches = [Sketches(), Sketches()]
    for part_of, own in zip(sketches, plain, strict=True):
        for row, text in enumerate(own):
            part_of.add(text, row)
    found = {
        one.row for one in alike(candidates(*sketches), dict(enumerate(plain[1])), dict(enumerate(plain[0])))
    }
    sets = [[{text[start : start + 8] for start in range(len(text) - 7)} for text in own] for own in plain]
    shares = [max(len(mine & other) / len(mine | other) for other in sets[0]) for mine in sets[1]]
    expected = {row for row, share in enumerate(shares) if share >= ALIKE}
    assert 5 < len(expected) < 40
    assert found == expected


def test_capitals_and_punctuation_hide_nothing_and_near_texts_are_told_apart(tmp_path: Path) -> None:
    long = (
        "a quiet old house by the green river where nobody ever sings in the morning and the letters stay"
        " closed while it rains on roofs and trees"
    )
    train = part(tmp_path / "train.csv", f"{long},pos", "Thank you!,neg", "plain,pos")
    test = part(
        tmp_path / "test.csv",
        f"{long.replace('nobody', 'nobidy')},pos",
        "thank you,neg",
        "PLAIN...,pos",
        "new,neg",
        "plain,neg",
    )
    report = survey({"train": train, "test": test}, text="text", label="label")
    found = report.parts["test"]
    assert (found.leaks, found.plain_leaks, found.near_leaks) == (1, 2, 1)
    assert found.first_plain_leaks[0].also == f"{tmp_path}/train.csv, line 3"
    assert ALIKE <= found.first_near_leaks[0].likeness < 1
    assert report.leaked["test"] == {(f"{tmp_path}/test.csv", line) for line in (2, 3, 4, 6)}
    assert "test: 1 text has a near-duplicate in train (at least 80%" in "\n".join(report.warnings)
    assert (found.conflicts, report.parts["train"].conflicts) == (1, 1)
    assert found.first_conflicts[0].also == f"{tmp_path}/train.csv, line 4"


def test_what_is_beyond_the_limit_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "MOST_ROWS", 3)
    source = part(tmp_path / "train.csv", *(f"{text},x" for text in texts(5, seed=3)))
    report = survey({"train": source}, text="text", label="label")
    assert "train: searched only the first 3 rows for near-duplicates" in report.warnings


def test_series_are_equal_when_their_numbers_are() -> None:
    assert content_of([[1, 2], [3, 4]]) == content_of(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert content_of([[1, 2, 3, 4]]) != content_of([[1, 2], [3, 4]])
    assert content_of(np.arange(3000)) != content_of(
        np.where(np.arange(3000) == 1500, 0, np.arange(3000))
    )  # where repr would write dots


@pytest.mark.parametrize("most", [1_000_000, 300])
def test_repeated_passages_are_those_of_sets_of_substrings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(passages, "MOST_KEPT", most)
    monkeypatch.setattr(passages, "CHUNK", 500)
    first, other = "\n".join(texts(12, seed=1)), "\n".join(texts(8, seed=2))
    second = other[:700] + first[1000:1600] + other[700:]
    for name, text in (("a.txt", first), ("b.txt", second)):
        (tmp_path / name).write_text(text)
    one, two = (open_source(tmp_path / name, DataSettings()) for name in ("a.txt", "b.txt"))
    found = Passages(one, column="text").repeats_in(two)
    known = {first[start : start + WINDOW] for start in range(len(first) - WINDOW + 1)}
    repeated = [start for start in range(len(second) - WINDOW + 1) if second[start : start + WINDOW] in known]
    if most > len(first):
        assert found.starts.tolist() == repeated
        assert found.windows == len(second) - WINDOW + 1
        assert found.first == f"{tmp_path}/b.txt, line {second.count(chr(10), 0, repeated[0]) + 1}"
        assert (
            found.also == f"{tmp_path}/a.txt, line"
            f" {first.count(chr(10), 0, first.index(second[repeated[0] : repeated[0] + WINDOW])) + 1}"
        )
    else:
        assert found.kept < 1
        assert set(found.starts.tolist()) <= set(repeated)
        assert found.share == pytest.approx(len(repeated) / (len(second) - WINDOW + 1), abs=0.12)
