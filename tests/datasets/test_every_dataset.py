"""The promises of the room, for every dataset that is registered."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from seqlab.core.errors import MissingExtra
from seqlab.datasets.base import datasets
from seqlab.sources.base import TextSource
from seqlab.sources.open_source import open_parts
from seqlab.sources.settings import DataSettings
from seqlab.sources.survey.survey import survey
from tests.sources.guessing import guess

pytestmark = pytest.mark.slow  # trainings and commands: short each, long together

PROGRAM = """
import sys
from seqlab.datasets.base import datasets
for name in sys.argv[1:]:
    for part in datasets.get(name)().splits().values():
        print(part.fingerprint())
"""


def test_the_room_offers_these() -> None:
    assert datasets.names() == [
        "copy",
        "dates",
        "digits",
        "languages",
        "moving_ball",
        "numbers",
        "punctuation",
        "pydoc",
        "python_tokens",
        "recall",
        "reverse",
        "shapes",
        "stdlib",
    ]


@pytest.mark.parametrize("name", datasets.names())
def test_parts_share_no_text_and_settings_are_real(name: str) -> None:
    builtin = datasets.get(name)()
    assert (builtin.name, bool(builtin.description)) == (name, True)
    parts = builtin.splits()
    assert list(parts) == ["train", "valid", "test"]
    columns = {key: value for key, value in builtin.settings.items() if key != "tokens.kind"}
    assert all(key.removeprefix("data.") in DataSettings.model_fields for key in columns)
    assert all(value in parts["train"].columns for value in columns.values())
    if builtin.task == "classification":
        report = survey(
            parts, text=builtin.settings.get("data.text", "steps"), label=builtin.settings["data.label"]
        )
        assert report.warnings == []
        assert all(part.balance < 0.3 for part in report.parts.values())
    elif builtin.task == "tagging":
        report = survey(parts, text=builtin.settings["data.text"], label=builtin.settings["data.label"])
        assert not any(part.leaks or part.unseen_labels for part in report.parts.values())
    elif builtin.task in ("translation", "captioning"):
        for column in (builtin.settings["data.source"], builtin.settings["data.target"]):
            texts = [{str(row.values[column]) for row in part.rows()} for part in parts.values()]
            assert (
                sum(map(len, texts))
                == len(set.union(*texts))
                > (3000 if builtin.task == "translation" else 400)
            )  # neither a source nor a target stands in two parts
    else:
        assert all(isinstance(part, TextSource) for part in parts.values())


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["languages", "numbers", "punctuation", "recall"], id="some"),
        pytest.param(datasets.names(), id="all", marks=pytest.mark.long),
    ],
)
def test_every_process_sees_the_same_data(names: list[str]) -> None:
    here = [part.fingerprint() for name in names for part in datasets.get(name)().splits().values()]
    assert len(set(here)) == 3 * len(names)
    there = subprocess.run(
        [sys.executable, "-c", PROGRAM, *names],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.split() == here


@pytest.mark.spec(28)
def test_a_dataset_of_ones_own_is_loaded_the_same_way_as_a_built_in_one(tmp_path: Path) -> None:
    builtin = datasets.get("languages")()
    parts = builtin.splits()
    for name, part in parts.items():
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([part.columns, *(row.values.values() for row in part.rows())])
    own = open_parts(tmp_path, DataSettings())
    assert {name: [row.values for row in part.rows()] for name, part in own.items()} == {
        name: [row.values for row in part.rows()] for name, part in parts.items()
    }
    found = guess(own["train"])
    assert (found.task, {"data.text": found.text, "data.label": found.label}) == (
        builtin.task,
        builtin.settings,
    )


def test_digits_are_the_pictures_row_by_row() -> None:
    load_digits = pytest.importorskip("sklearn.datasets").load_digits
    digits = load_digits()
    rows = [row for part in datasets.get("digits")().splits().values() for row in part.rows()]
    assert len(rows) == 1797
    for row in rows:
        assert row.values["label"] == str(digits.target[row.line - 1])
        assert [16 * grey for step in row.values["steps"] for grey in step] == digits.data[
            row.line - 1
        ].tolist()


def test_every_name_belongs_to_its_language_and_to_no_other() -> None:
    locale = pytest.importorskip("babel").Locale
    rows = {
        row.values["name"]: row.values["language"]
        for part in datasets.get("languages")().splits().values()
        for row in part.rows()
    }
    assert rows["Frankreich"] == "German"
    assert rows["Yunanistan"] == "Turkish"
    assert "Peru" not in rows
    assert len(set(rows.values())) == 18
    assert not set(rows).intersection(name for name, language in rows.items() if language != "Danish") & set(
        locale.parse("da").territories.values()
    )


def test_pydoc_repeats_no_paragraph_and_stdlib_is_python() -> None:
    pydoc = datasets.get("pydoc")().splits()
    assert isinstance(pydoc["train"], TextSource)
    assert isinstance(pydoc["test"], TextSource)
    paragraphs = [
        {text for text in "".join(part.chunks(9999)).split("\n\n") if len(" ".join(text.split())) >= 40}
        for part in (pydoc["train"], pydoc["test"])
    ]
    assert len(paragraphs[0]) > 500
    assert not paragraphs[0] & paragraphs[1]
    stdlib = datasets.get("stdlib")().splits()["train"]
    assert isinstance(stdlib, TextSource)
    start = next(stdlib.chunks(1_000_000))
    assert start.count("\n    def ") > 500
    assert "def test_" not in start


def test_a_missing_library_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = datasets.get("languages")
    monkeypatch.setitem(sys.modules, "babel", None)
    sys.modules["seqlab.datasets.languages"].read_language_names.cache_clear()
    with pytest.raises(
        MissingExtra, match=r"needs the package 'Babel'.*\n.*pip install 'seqlab\[datasets\]'"
    ):
        dataset().splits()
