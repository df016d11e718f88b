"""The data report counts what plain Python counts."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seqlab.sources.base import Row, Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.open_source import open_parts, open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out
from seqlab.sources.survey.report import Leak
from seqlab.sources.survey.survey import survey
from seqlab.sources.tables import open_table

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def part(path: Path, *rows: str) -> Source:
    path.write_text("text,label\n" + "".join(row + "\n" for row in rows))
    return open_source(path, DataSettings(bad_rows="skip"))


def test_everything_that_could_spoil_a_score_is_counted(tmp_path: Path) -> None:
    train = part(tmp_path / "train.csv", "one,pos", "two words,neg", "one,pos ", "   ,neg", "bad")
    test = part(tmp_path / "test.csv", "three,odd", "two words,neg", "two words,neg", ",pos")
    report = survey({"test": test, "train": train}, text="text", label="label")
    first, second = report.parts["train"], report.parts["test"]
    assert list(report.parts) == ["test", "train"]
    assert (first.rows, first.characters, first.empty, first.duplicates, first.leaks, first.skipped) == (
        4,
        18,
        1,
        1,
        0,
        1,
    )
    assert first.first_empty == [f"{tmp_path}/train.csv, line 5"]
    assert first.labels == {"neg": 2, "pos": 2}
    assert first.balance == 0.5
    assert (second.rows, second.empty, second.duplicates, second.leaks) == (4, 1, 1, 2)
    assert second.first_leaks[0] == Leak(f"{tmp_path}/test.csv, line 3", f"{tmp_path}/train.csv, line 3")
    assert second.unseen_labels == {"odd": 1}
    assert (first.stripped_labels, report.similar_labels) == (1, [])
    assert len(report.warnings) == 8
    assert "test: 2 texts also occur in train" in "\n".join(report.warnings)


@pytest.mark.parametrize(
    ("values", "noun"),
    [
        (["a b", "a b", "a b", "c"], "text"),
        ([["a", "b"], ["a", "b"], ["a", "b"], ["c"]], "text"),
        ([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [3.0]], "sequence"),
        ([[[1.0], [2.0]], [[1.0], [2.0]], [[1.0], [2.0]], [[3.0]]], "sequence"),
    ],
)
def test_rows_are_called_what_they_hold(values: list[Any], noun: str) -> None:
    rows = [{"steps": value, "label": f"{number}"} for number, value in enumerate(values)]
    parts = {
        "train": InMemoryRows("train", ["steps", "label"], rows[:3]),
        "test": InMemoryRows("test", ["steps", "label"], [rows[1], {"steps": [], "label": "1"}]),
    }
    said = survey(parts, text="steps", label="label").warnings
    assert any(f"train: 2 {noun}s repeat an earlier one" in sentence for sentence in said)
    assert any(f"test: 1 {noun} also occurs in train" in sentence for sentence in said)
    assert any(f"test: 1 empty {noun}" in sentence for sentence in said)
    assert any(f"train: 3 {noun}s occur elsewhere with a different label" in sentence for sentence in said)


def test_classes_that_one_part_has_and_another_lacks_are_told_with_their_counts(tmp_path: Path) -> None:
    train = part(tmp_path / "train.csv", "one,a", "two,b", "three,b", "four,c", "five,c", "six,c")
    test = part(tmp_path / "test.csv", "seven,a", "eight,d", "nine,d")
    report = survey({"train": train, "test": test}, text="text", label="label")
    assert report.parts["test"].missing_labels == {"c": 3, "b": 2}
    assert report.parts["train"].missing_labels == {}
    missing, unseen = (warning for warning in report.warnings if warning.startswith("test:"))
    assert all(fact in missing for fact in ("2 of the 3 labels", "train", "'c' (3)", "'b' (2)"))
    assert all(fact in unseen for fact in ("never", "'d' (2)"))


def test_quantiles_are_those_of_the_sorted_lengths(tmp_path: Path) -> None:
    lengths = [(7 * i) % 101 + 1 for i in range(101)]  # each of 1..101 once
    report = survey(
        {"train": part(tmp_path / "t.csv", *("x " * length + ",a" for length in lengths))},
        text="text",
        label="label",
    )
    words = report.parts["train"].length_words
    assert words is not None
    assert (
        words.smallest,
        words.tenth,
        words.median,
        words.ninetieth,
        words.ninety_ninth,
        words.largest,
    ) == (1, 11, 51, 91, 100, 101)
    assert words.mean == pytest.approx(51)


def sentences(count: int, *, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(f"word{chance.randrange(300)}" for _ in range(20)) for _ in range(count)]


def test_rows_of_a_json_file_without_line_breaks_are_told_apart(tmp_path: Path) -> None:
    known, new = sentences(30, seed=1), sentences(9, seed=2)
    texts = {"train": [*known, "", f"{known[3]} more", f"{known[5]} more"], "test": [*new, known[7]]}
    parts = {}
    for name, content in texts.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps([{"text": text} for text in content]), encoding="utf-8")
        parts[name] = open_source(path, DataSettings())
    report = survey(parts, text="text")
    assert report.parts["train"].near_duplicates == 2
    assert report.parts["train"].first_near_duplicates[0].where == f"{tmp_path / 'train.json'}, line 32"
    assert report.leaked["test"] == {(str(tmp_path / "test.json"), 10)}
    assert any("row N" in note for note in parts["test"].notes)


def test_near_duplicates_are_found_among_rows_with_the_same_place() -> None:
    """Several captions of an image, or plural forms of a message, have one line."""
    texts = ["", *sentences(3, seed=1)]
    texts += [f"{texts[1]} more", f"{texts[3]} more"]

    class OneLine(InMemoryRows):
        def rows(self) -> Iterator[Row]:
            return (replace(row, line=1) for row in super().rows())

    train = OneLine("captions", ["text"], [{"text": text} for text in texts])
    assert survey({"train": train}, text="text").parts["train"].near_duplicates == 2


def test_a_row_of_a_table_in_memory_has_no_line() -> None:
    table = open_table([{"text": "a text", "label": "x"}])
    report = survey({"train": table, "test": table}, text="text", label="label")
    assert report.parts["test"].first_leaks[0].where == "row 1 of the table"


def test_a_cell_that_holds_no_text_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(
        "".join(f'{{"text": {cell}, "label": "x"}}\n' for cell in ('"some words"', "null", "7", "true"))
    )
    found = survey(
        {"train": open_source(tmp_path / "rows.jsonl", DataSettings())}, text="text", label="label"
    ).parts["train"]
    assert (found.rows, found.empty, found.first_empty[0]) == (4, 3, f"{tmp_path}/rows.jsonl, line 2")


def test_clean_data_has_no_warnings(tmp_path: Path) -> None:
    splits = {"train": part(tmp_path / "a.csv", "a,x", "b,y"), "test": part(tmp_path / "b.csv", "c,x", "d,y")}
    assert survey(splits, text="text", label="label").warnings == []


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_test_part_that_is_the_validation_part_is_told(tmp_path: Path, is_stream: bool) -> None:
    held = [f"{'so many different words stand here ' * 2}{number},x" for number in ("one", "two")]
    splits = {
        "train": part(tmp_path / "a.csv", "a,x"),
        "valid": part(tmp_path / "b.csv", *held),
        "test": part(tmp_path / "c.csv", *held),
    }
    found = survey(splits, text="text", label="label", is_stream=is_stream)
    what = (
        "100.0% of the 50-character passages also occur in valid"
        if is_stream
        else "2 texts also occur in valid, exactly or nearly"
    )
    assert (
        f"test: {what}, the first at {tmp_path}/c.csv, line 2 (valid: {tmp_path}/b.csv, line 2)"
        in found.warnings
    )
    assert not found.leaked.get("test")


def test_rows_that_cannot_be_read_are_told_once_for_all_parts_of_a_file(tmp_path: Path) -> None:
    whole = part(tmp_path / "a.csv", *(f"text {number},x" for number in range(40)), "bad", "worse")
    parts = hold_out(whole, how="random", valid_share=0.2, test_share=0.2, seed=1).named()
    found = survey(parts, text="text", label="label")
    assert [one.skipped for one in found.parts.values()] == [2, 0, 0]
    (warning,) = (warning for warning in found.warnings if "skipped" in warning)
    assert (
        f"skipped 2 rows, the first: {tmp_path}/a.csv, line 42: 1 field, expected 2 (text,label)." in warning
    )
    assert "data.bad_rows=stop" in warning


@pytest.mark.long
@pytest.mark.skipif(not (DATA / "imdb").is_dir(), reason="the IMDB reviews are not here")
def test_the_known_leaks_of_imdb_are_found() -> None:
    report = survey(open_parts(DATA / "imdb", DataSettings()), text="text", label="label")
    train, test = report.parts["train"], report.parts["test"]
    assert (train.duplicates, test.duplicates, test.leaks) == (
        96,
        199,
        123,
    )  # as counted by those who packed the files
    assert (test.plain_leaks, test.near_leaks, len(report.leaked["test"])) == (0, 1, 124)
    assert train.length_words is not None
    assert (train.length_words.median, train.length_words.ninetieth, train.length_words.largest) == (
        174,
        458,
        2470,
    )
