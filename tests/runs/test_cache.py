"""A survey is made once for the same data, and never told of other data."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import seqlab
from seqlab.runs.data import open_data, open_further_data
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.survey import data_survey as surveying
from seqlab.runs.survey.data_survey import cached_survey, survey_parts
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.survey.passages import Repeats
from seqlab.sources.survey.report import Leak, PartSurvey, Quantiles, Survey
from seqlab.sources.survey.series_survey import ColumnSurvey, SeriesSurvey
from tests.runs.source_runs import hurried
from tests.runs.test_compare import SMALL, write_notes

ROWS = ["one text here,low", "another text here,high", "a third text,low", "the fourth text,high"]


class Counted:
    """Makes surveys, and counts how often it had to."""

    def __init__(self, make: Callable[..., Survey]) -> None:
        self.make, self.times = make, 0

    def __call__(self, *given: object, **options: object) -> Survey:
        self.times += 1
        return self.make(*given, **options)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def surveys(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted(surveying.survey)
    monkeypatch.setattr(surveying, "survey", counted)
    return counted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Training and test data, of which one row stands in both."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.csv").write_text("\n".join(["text,label", *ROWS]) + "\n")
    (tmp_path / "data" / "test.csv").write_text("text,label\nnew words,low\nA third text!,low\n")
    return tmp_path / "data"


def look(*words: str) -> Survey:
    opened = open_data(find_recipe(words[0], ["data.valid_share=0", *words[1:]], task="classification")[0])
    return survey_parts(opened.recipe, opened.parts)


def test_the_same_files_are_looked_at_once_whatever_they_are_called(
    folder: Path, surveys: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = look(str(folder / "train.csv"), f"data.test={folder}/test.csv")
    again = look(str(folder / "train.csv"), f"data.test={folder}/test.csv")
    monkeypatch.chdir(folder.parent)
    short = look("data/train.csv", "data.test=data/test.csv")
    assert surveys.times == 1
    assert again == whole
    assert again.leaked == {"test": {(f"{folder}/test.csv", 3)}}
    assert short.leaked == {"test": {("data/test.csv", 3)}}
    assert short.parts["test"].first_plain_leaks == [Leak("data/test.csv, line 3", "data/train.csv, line 4")]
    assert [warning.replace(f"{folder}/", "data/") for warning in whole.warnings] == short.warnings


def test_another_file_setting_or_column_is_looked_at_anew(folder: Path, surveys: Counted) -> None:
    settings = (str(folder / "train.csv"), f"data.test={folder}/test.csv")
    assert look(*settings).parts["test"].plain_leaks == 1
    (folder / "train.csv").write_text("\n".join(["text,label", *ROWS, "new words,low"]) + "\n")
    changed = look(*settings)
    assert (changed.parts["train"].rows, changed.parts["test"].leaks, changed.parts["test"].plain_leaks) == (
        5,
        1,
        1,
    )
    assert any(
        warning.startswith("test: 1 text also occurs in train, the first at ") for warning in changed.warnings
    )
    assert look(*settings, "data.max_rows=2").parts["train"].rows == 2
    assert look(*settings, "data.text=label", "data.label=text").parts["train"].duplicates == 3
    assert surveys.times == 4


def test_a_damaged_survey_is_made_anew(folder: Path, cache: Path, surveys: Counted) -> None:
    settings = (str(folder / "train.csv"), f"data.test={folder}/test.csv")
    first = look(*settings)
    index = next(cache.rglob("store.json"))
    whole = index.read_text()
    damages = (whole[:-30], whole.replace('"plain_leaks": 1', '"plain_leaks": 0'))
    assert len({*damages, whole}) == 3
    for times, damage in enumerate(damages, start=2):
        index.write_text(damage)
        assert look(*settings) == first
        assert surveys.times == times


def test_a_cache_that_cannot_be_written_to_takes_nothing_away(
    folder: Path, surveys: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "file" / "cache"))
    assert look(str(folder / "train.csv"), f"data.test={folder}/test.csv").parts["test"].plain_leaks == 1
    assert surveys.times == 1


def test_everything_comes_back_as_it_was_found(folder: Path) -> None:
    leaks = [Leak("a, line 1", "b, line 2", 0.875)]
    counts = Quantiles(1, 2, 3, 4, 5, 6, 2.5)
    part = PartSurvey(
        rows=7,
        characters=8,
        length_characters=counts,
        length_words=counts,
        labels={"x": 3, "\udc80é": 1},
        noun="sequences",
        empty=1,
        first_empty=["a, line 2"],
        duplicates=1,
        near_duplicates=2,
        first_near_duplicates=leaks,
        leaks=3,
        first_leaks=leaks,
        plain_leaks=4,
        first_plain_leaks=leaks,
        near_leaks=5,
        first_near_leaks=leaks,
        compared=6,
        conflicts=7,
        first_conflicts=leaks,
        repeats=None,
        unseen_labels={"odd": 1},
        missing_labels={"rare": 2},
        stripped_labels=2,
        composed=3,
        decomposed=4,
        first_decomposed="a, line 9",
        skipped=5,
        skipped_of=60,
        first_skipped=["a, line 4: broken"],
        in_valid=6,
        share_in_valid=0.5,
        first_in_valid=leaks,
        series=SeriesSurvey(
            num_series=2,
            num_steps=40,
            first_constant=["shop 3"],
            columns={"sales": ColumnSurvey(missing=1, outliers=2, first_outliers=["line 4"], median=8.5)},
        ),
    )
    assert all(value for name, value in vars(part).items() if name != "repeats")  # no field is left out
    repeats = Repeats(0.25, 8, 0.5, "a, line 1", "b, line 2", np.array([3, 5]), np.arange(8))
    survey = Survey(
        {"train": part, "test": replace(part, repeats=repeats)}, [("x", "X ")], {"test": {("a", 1), ("b", 3)}}
    )
    parts = {"train": open_source(folder / "train.csv", DataSettings())}
    for _ in range(2):  # as it is found, and as it is kept
        found = cached_survey(parts, lambda: survey, options={}, paths=[])
        kept = found.parts["test"].repeats
        assert kept is not None
        assert (kept.starts.tolist(), kept.looked_at.tolist()) == ([3, 5], list(range(8)))
        assert replace(found.parts["test"], repeats=None) == found.parts["train"] == part
        assert (found.similar_labels, found.leaked, found.as_json()) == (
            survey.similar_labels,
            survey.leaked,
            survey.as_json(),
        )


@pytest.mark.slow
def test_training_evaluation_and_comparison_share_one_survey(
    surveys: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_notes(tmp_path / "notes.csv")
    monkeypatch.chdir(tmp_path)
    with hurried():
        runs = [
            seqlab.train("notes.csv", *SMALL, "training.steps=1", model=model, out=f"runs/{model}")
            for model in ("gru", "rnn")
        ]
    runs[0].evaluate()
    seqlab.compare(["gru", "rnn"])
    assert surveys.times == 1
    write_notes(tmp_path / "more.csv", seed=8, count=20)
    for _ in range(2):
        runs[0].evaluate("more.csv")
    assert surveys.times == 2


def test_repeated_passages_of_a_text_are_kept(surveys: Counted, tmp_path: Path) -> None:
    chance = random.Random(2)
    lines = ["".join(chance.choices("abcdefgh ", k=80)) for _ in range(60)]
    (tmp_path / "story.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "more.txt").write_text(
        "\n".join([*reversed(lines[:3]), "something that was never said before in any text"]) + "\n"
    )
    recipe = find_recipe(str(tmp_path / "story.txt"), [], task="language_model")[0]
    opened = open_data(recipe)
    found = [
        survey_parts(
            opened.recipe,
            {
                "train": opened.parts["train"],
                "new": open_further_data(opened.recipe, str(tmp_path / "more.txt")),
            },
            more="more.txt",
        )
        for _ in range(2)
    ]
    assert surveys.times == 1
    first, second = (each.parts["new"].repeats for each in found)
    assert first is not None
    assert second is not None
    assert (first.share, first.also) == (second.share, second.also)
    assert first.share > 0.3
    assert np.array_equal(first.starts, second.starts)
    assert np.array_equal(first.looked_at, second.looked_at)
