"""Several text columns as one, cells with several labels, and labels that almost agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, label_of
from seqlab.sources.label_lists import guess_separator, labels_of
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out
from seqlab.sources.survey.survey import survey
from seqlab.sources.views.joined_columns import BETWEEN, join_columns
from tests.sources.guessing import guess


def table(path: Path, text: str, **settings: str) -> tuple[Path, DataSettings]:
    path.write_text(text, encoding="utf-8")
    return path, DataSettings(**settings)


def test_columns_are_joined_in_their_order_and_a_comma_may_belong_to_a_name(tmp_path: Path) -> None:
    source = open_source(*table(tmp_path / "a.csv", '"well, was it?",title,body\nx,one,"two\x1fthree"\n'))
    joined = join_columns(source, "body, title")
    assert next(iter(joined.rows())).values["body, title"] == f"two three{BETWEEN}one"
    assert joined.fingerprint() != join_columns(source, "title,body").fingerprint()
    assert join_columns(source, "well, was it?") is source
    with pytest.raises(DataError, match=r"(?s)no column 'boddy'.*Did you mean 'body'"):
        join_columns(source, "title,boddy")


def test_labels_in_a_cell() -> None:
    def labels(value: object, separator: str = "") -> list[str]:
        return labels_of(Row({"l": value}, "f", 3), "l", separator=separator)

    assert labels(["b", " a", "b"]) == ["b", "a"]
    assert labels("x | y|", "|") == ["x", "y"]
    assert labels("") == labels(None) == labels([]) == []
    assert labels([1, True]) == ["1", "true"]
    assert guess_separator([Row({"l": "a;b,c"}, "f", 1)], "l") == ";"
    with pytest.raises(DataError, match=r"f, line 3: entry 2 of column 'l' "):
        labels(["a", {}])


def test_a_label_is_the_same_with_blanks_around_it_and_nan_is_none() -> None:
    assert label_of(Row({"l": "pos "}, "f", 1), "l") == "pos"
    for gap in ("", "  ", None, float("nan")):
        with pytest.raises(DataError, match="f, line 2: column 'l' is empty"):
            label_of(Row({"l": gap}, "f", 2), "l")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [f'{{"text": "some text number {i}", "topics": ["a", "b"]}}' for i in range(9)]
            + ['{"text": "no topic at all", "topics": []}'],
            "multi_label",
        ),
        ([f'{{"text": "some text number {i}", "score": {i / 7}}}' for i in range(60)], "regression"),
        ([f'{{"text": "some text number {i}", "target": {i / 7}}}' for i in range(60)], "regression"),
        ([f'{{"text": "some text number {i}", "label": {i % 5}}}' for i in range(60)], "classification"),
    ],
)
def test_lists_are_several_labels_and_many_numbers_are_measured(
    rows: list[str], expected: str, tmp_path: Path
) -> None:
    assert guess(open_source(*table(tmp_path / "t.jsonl", "\n".join(rows)))).task == expected


def test_another_text_column_is_offered(tmp_path: Path) -> None:
    rows = "".join(
        f"a short title {i},and here is the body of the text number {i},{'xy'[i % 2]}\n" for i in range(20)
    )
    found = guess(open_source(*table(tmp_path / "t.csv", f"title,body,label\n{rows}")))
    assert found.text == "body"
    assert any("data.text=title,body" in reason for reason in found.reasons)


def test_a_label_without_a_row_in_train_stays_there_with_its_equals(tmp_path: Path) -> None:
    rows = [f"text {i},common" for i in range(30)] + [
        "alone,rare",
        "alone,common",
    ]  # equal texts stay on one side
    source = open_source(*table(tmp_path / "t.csv", "text,label\n" + "\n".join(rows)))
    for seed in range(12):
        parts = hold_out(
            source,
            how="content",
            valid_share=0.2,
            test_share=0.2,
            seed=seed,
            key_columns=["text"],
            labels=lambda row: [row.values["label"]],
        )
        assert "rare" in {row.values["label"] for row in parts.train.rows()}
        assert [row.values["text"] for row in parts.train.rows()].count("alone") == 2
        assert parts.train_only_labels in ((), ("rare",))


def test_the_survey_tells_two_spellings_of_a_letter_and_labels_that_may_be_gaps(tmp_path: Path) -> None:
    source = open_source(
        *table(tmp_path / "t.csv", "text,label\ncaf\u00e9,a\ncafe\u0301,A\nemoji \U0001f600,nan\n")
    )
    warnings = "\n".join(survey({"train": source}, text="text", label="label").warnings)
    assert "one character in 1 texts (NFC) and as two in 1 (NFD, the first at" in warnings
    assert "line 3), so the same word may count as two" in warnings
    assert "train: labels that may mark missing values: 'nan' (1)" in warnings
    assert "differ only in case or whitespace: 'A' (1), 'a' (1)" in warnings
