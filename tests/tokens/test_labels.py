from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.core.errors import DataError, RunError, UsageError
from seqlab.tokens.labels import Labels


@given(st.lists(st.text(max_size=4), min_size=1))
def test_names_and_ids_are_each_others_inverse(labels: list[str]) -> None:
    known = Labels.fit(labels)
    assert sorted(known.names) == sorted(set(labels))
    assert [known.decode(known.encode(label)) for label in labels] == labels
    assert known.names == Labels.fit(reversed(labels)).names, "the order of the rows must not matter"


def test_names_are_in_alphabetical_order_numbers_by_value() -> None:
    assert Labels.fit(["b", "a", "10", "9"]).names == ["10", "9", "a", "b"]
    assert Labels.fit(["10", "9", "-1"]).names == ["-1", "9", "10"]
    assert Labels.fit(["01", "1", "1 "]).names == ["01", "1", "1 "]


def test_the_most_frequent_label_can_come_first() -> None:
    assert Labels.fit(["b", "c", "a", "c"], order="frequency").names == ["c", "a", "b"]


def test_a_label_that_training_never_saw_is_named_with_its_place_and_the_nearest_one() -> None:
    known = Labels.fit(["positive", "negative"])
    with pytest.raises(
        DataError, match=r"tweets\.csv, line 7: the label 'postive' does not occur in the training data"
    ) as error:
        known.encode("postive", where="tweets.csv, line 7")
    assert "Did you mean 'positive'? Available: negative, positive." in str(error.value)
    assert "remove the row" in str(error.value)


def test_a_label_of_a_megabyte_is_not_printed_whole() -> None:
    with pytest.raises(DataError) as error:
        Labels.fit(["a"]).encode("x" * 1_000_000)
    assert len(str(error.value)) < 400


def test_no_label_and_no_such_class_are_refused() -> None:
    with pytest.raises(DataError, match="there are no labels to train on"):
        Labels.fit([])
    with pytest.raises(UsageError, match="class 2 does not exist; there are 2"):
        Labels(["a", "b"]).decode(2)
    with pytest.raises(UsageError, match="class -1 does not exist"):
        Labels(["a", "b"]).decode(-1)


def test_labels_survive_the_file(tmp_path: Path) -> None:
    known = Labels.fit(["é", "", "a\nb", "\ud800", "🦁"])
    known.save(tmp_path / "labels.json")
    assert Labels.load(tmp_path / "labels.json").names == known.names


@pytest.mark.parametrize(
    ("content", "words"),
    [("{", "is not valid JSON"), ('{"labels": [1]}', "a number in"), ('{"labels": ["a", "a"]}', "twice")],
)
def test_a_damaged_file_is_refused(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "labels.json").write_text(content)
    with pytest.raises(RunError, match=words):
        Labels.load(tmp_path / "labels.json")
