"""Tables in memory become the same rows, whatever kind of table they come in."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqlab.core.errors import DataError, UsageError
from seqlab.sources.base import label_of, require_columns
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.table_rows import read_rows
from seqlab.sources.tables import is_splits, is_table, open_table, save_splits, save_table
from seqlab.sources.views.word_rows import WordRows

ROWS = [{"text": "good", "label": "pos"}, {"text": "bad", "label": "neg"}, {"text": None, "label": "neg"}]
Named = namedtuple("Named", ["text", "label"])


class ClassLabel:
    """As in `datasets`: knows the names of classes that are stored as numbers."""

    names = ("neg", "pos")


class Sequence:
    """As in `datasets`: a list of such numbers."""

    def __init__(self, feature: Any) -> None:
        self.feature = feature


class FakeDataset:
    """What a `datasets.Dataset` offers: rows as dicts, the names of its columns, and their features."""

    def __init__(self, rows: list[dict[str, Any]], features: dict[str, Any]) -> None:
        self._rows, self.features = rows, features
        self.column_names = list(features)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class FormattedDataset(FakeDataset):
    """A Hugging Face dataset after `set_format("pandas")`: its rows are tables until the format is taken off."""

    def __iter__(self) -> Iterator[Any]:
        return iter([{name: [cell] for name, cell in row.items()} for row in super().__iter__()])

    def with_format(self, kind: str | None) -> FakeDataset:
        assert kind is None
        return FakeDataset(self._rows, self.features)


class FakeLazyFrame:
    """Polars' lazy table, which has no rows until it is collected."""

    def collect(self) -> FakePolars:
        return FakePolars()


class FakePolars:
    """What a polars DataFrame offers."""

    columns = ("text", "label")

    def to_dicts(self) -> list[dict[str, Any]]:
        return ROWS


def all_kinds() -> dict[str, Any]:
    numbered = [{**row, "label": ClassLabel.names.index(str(row["label"]))} for row in ROWS]
    return {
        "dicts": ROWS,
        "named tuples": [Named(**row) for row in ROWS],
        "columns": {name: [row[name] for row in ROWS] for name in ("text", "label")},
        "arrays": {name: np.array([row[name] for row in ROWS], dtype=object) for name in ("text", "label")},
        "polars": FakePolars(),
        "lazy polars": FakeLazyFrame(),
        "formatted dataset": FormattedDataset(numbered, {"text": object(), "label": ClassLabel()}),
        "dataset": FakeDataset(numbered, {"text": object(), "label": ClassLabel()}),
    }


@pytest.mark.parametrize("kind", list(all_kinds()))
def test_every_kind_of_table_has_the_same_rows(kind: str) -> None:
    assert read_rows(all_kinds()[kind]) == ROWS


def test_pandas_and_arrow_tables_have_the_same_rows() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    assert read_rows(pandas.DataFrame(ROWS)) == ROWS
    assert read_rows(pyarrow.Table.from_pylist(ROWS)) == ROWS


def test_tuples_get_numbered_columns() -> None:
    assert read_rows([("a", 1), ("b", 2)]) == [
        {"column_1": "a", "column_2": 1},
        {"column_1": "b", "column_2": 2},
    ]


def test_numbers_of_numpy_become_plain_and_nan_is_missing() -> None:
    rows = read_rows({"a": np.array([1.5, np.nan]), "b": [np.array([1, 2]), np.int64(3)]})
    assert rows == [{"a": 1.5, "b": [1, 2]}, {"a": None, "b": 3}]
    assert type(rows[1]["b"]) is int


def test_lists_of_class_numbers_become_lists_of_names() -> None:
    dataset = FakeDataset(
        [{"words": ["a", "b"], "tags": [0, 1]}], {"words": object(), "tags": Sequence(ClassLabel())}
    )
    assert read_rows(dataset) == [{"words": ["a", "b"], "tags": ["neg", "pos"]}]


@pytest.mark.parametrize(
    ("table", "facts"),
    [
        (["a", "b"], ["row 1", "str", "'a'", "dict"]),
        ([{"text": "a"}, 3], ["row 2", "int"]),
        ([("a", 1), ("b",)], ["row 2", "tuple of length 1", "tuple of length 2"]),
        ([("a", 1), {"text": "b"}], ["row 2", "dict"]),
        ({"text": ["a"], "label": [1, 2]}, ["text 1", "label 2"]),
        ({"text": "a"}, ["'text'", "str"]),
        ([], ["list", "no rows"]),
        (3, ["int", "DataFrame"]),
    ],
)
def test_what_is_no_table_is_refused_with_the_row_or_column(table: Any, facts: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        read_rows(table)
    assert [fact for fact in facts if fact not in str(caught.value)] == []


def test_columns_of_the_same_name_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(UsageError, match="duplicate columns: a"):
        read_rows(pandas.DataFrame([[1, 2]], columns=["a", "a"]))


def test_a_saved_table_is_read_back_and_kept_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    path = save_table([{"a": float("inf"), "b": [1.0, float("nan")], "c": "ü"}])
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": None, "b": [1.0, None], "c": "ü"}
    assert save_table([{"a": float("inf"), "b": [1.0, float("nan")], "c": "ü"}]) == path
    assert save_table([{"a": 1}]) != path


def test_a_saved_table_that_was_damaged_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    path = save_table([{"text": "good"}])
    path.write_text('{"text": "bad"}\n', encoding="utf-8")
    assert save_table([{"text": "good"}]) == path
    assert json.loads(path.read_text(encoding="utf-8")) == {"text": "good"}


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_words_below_the_one_that_names_the_sentence_belong_to_it(missing: Any) -> None:
    words = [("1", "It"), (missing, "is"), (missing, "raining"), ("2", "Run")]
    table = open_table([{"sentence": name, "word": word} for name, word in words])
    sentences = WordRows(table, sentence="sentence", words="word").rows()
    assert [row.values["word"] for row in sentences] == [["It", "is", "raining"], ["Run"]]


def test_mistakes_in_a_table_are_told_by_row_not_by_a_file_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    path = save_table([{"text": "good", "label": "pos"}, {"text": "bad", "label": None}])
    source = open_source(path, DataSettings())
    with pytest.raises(DataError) as caught:
        [label_of(row, "label") for row in source.rows()]
    assert caught.value.where == "row 2 of the table"
    own = tmp_path / "table.jsonl"
    own.write_text('{"text": "a", "label": null}\n', encoding="utf-8")
    with pytest.raises(DataError) as caught:
        label_of(next(iter(open_source(own, DataSettings()).rows())), "label")
    assert caught.value.where == f"{own}, line 1"


def test_splits_are_saved_under_our_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    dataset = FakeDataset([{"text": "x", "label": 1}], {"text": object(), "label": ClassLabel()})
    splits = save_splits({"train": ROWS, "validation": dataset, "test": Path("test.csv")})
    assert list(splits) == ["train", "valid", "test"]
    assert json.loads(Path(splits["valid"]).read_text(encoding="utf-8")) == {"text": "x", "label": "pos"}
    assert splits["test"] == "test.csv"
    assert save_splits("reviews.csv") == {"train": "reviews.csv"}


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        ({"train": ROWS, "unsupervised": ROWS}, ["'unsupervised'", "valid"]),
        ({"trian": ROWS, "test": ROWS}, ["'train'", "'trian'"]),
        ({"train": ROWS, "dev": ROWS, "valid": ROWS}, ["duplicate", "dev"]),
        ("one line\nanother line\n", ["several lines", "file"]),
    ],
)
def test_other_splits_and_texts_are_refused(data: Any, facts: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        save_splits(data)
    assert [fact for fact in facts if fact not in str(caught.value)] == []


def test_lists_of_texts_and_of_numbers_are_no_tables() -> None:
    assert not any(map(is_table, (["a"], [[1.0, 2.0]], "text", {"train": ROWS}, [])))
    assert is_table(ROWS)
    assert is_splits({"train": ROWS})
    assert not is_splits({"train": ["a"], "label": ["b"]})


def test_a_column_of_any_row_is_a_column_of_the_table() -> None:
    source = open_table([{"a": 1}, {"a": 2, "b": 3}])
    assert source.columns == ["a", "b"]
    assert [row.values for row in source.rows()] == [{"a": 1, "b": None}, {"a": 2, "b": 3}]


def test_rows_in_a_list_too_many_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        read_rows([ROWS])
    assert "row 1" in str(caught.value)
    assert "list of dicts" in str(caught.value)


def test_mistakes_about_a_whole_table_name_no_file_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    source = open_source(save_table(ROWS), DataSettings())
    with pytest.raises(DataError) as caught:
        require_columns(source, ["nope"])
    assert str(caught.value).startswith("table: ")
    assert str(tmp_path) not in str(caught.value)
