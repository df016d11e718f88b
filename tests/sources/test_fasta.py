"""FASTA files: what is read, and what is refused with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.formats.fasta import keys_of
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from tests.sources.guessing import guess

GOOD = """>one label=promoter organism=E. coli
ttgaca
TATAAT GC
; a comment
>two label=other organism=B. subtilis

ACGT
>three label=other
NN-*
"""


@pytest.mark.spec(14)
def test_headers_and_lines_become_rows(tmp_path: Path) -> None:
    path = tmp_path / "genes.fna.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    source = open_source(path, DataSettings())
    assert source.columns == ["id", "text", "label", "organism"]
    rows = list(source.rows())
    assert [row.values["text"] for row in rows] == ["TTGACATATAATGC", "ACGT", "NN-*"]
    assert rows[0].values | {"text": ""} == {
        "id": "one",
        "text": "",
        "label": "promoter",
        "organism": "E. coli",
    }
    assert [(row.line, row.values["organism"]) for row in rows[1:]] == [(5, "B. subtilis"), (8, "")]
    found = guess(source)
    assert (found.task, found.text, found.label) == ("classification", "text", "label")


def test_files_of_a_folder_are_classes_and_a_file_without_keys_is_text(tmp_path: Path) -> None:
    for name, letters in (("positive", "ACGT"), ("negative", "TTTT")):
        (tmp_path / f"{name}.fa").write_text(f">a\n{letters}\n>b\n{letters}A\n")
    rows = [(row.values["label"], row.values["text"]) for row in open_source(tmp_path, DataSettings()).rows()]
    assert rows == [("negative", "TTTT"), ("negative", "TTTTA"), ("positive", "ACGT"), ("positive", "ACGTA")]
    alone = open_source(tmp_path / "positive.fa", DataSettings())
    assert alone.columns == ["id", "text"]
    assert guess(alone).task == "language_model"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (">a\nAC\nAC9T\n", r"line 3, column 3: '9' .*data\.bad_rows=skip"),
        ("ACGT\n>a\nAC\n", r"line 1: .*before the first header.*starts with >"),
        (">a\n>b\nAC\n", r"line 1: .*header.*sequence"),
        ("\n", r"no sequences"),
    ],
)
def test_what_is_no_sequence_is_named_with_its_line(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "bad.fa").write_text(content)
    with pytest.raises(DataError, match=f"(?s){words}"):
        list(open_source(tmp_path / "bad.fa", DataSettings()).rows())


def test_bad_sequences_can_be_skipped_and_are_counted(tmp_path: Path) -> None:
    (tmp_path / "bad.fa").write_text(">a\nAC!T\n>b\nACGT\n>c\n")
    source = open_source(tmp_path / "bad.fa", DataSettings(bad_rows="skip"))
    assert [row.values["id"] for row in source.rows()] == ["b"]
    assert source.bad_rows.count == 2


def test_keys_of_other_headers() -> None:
    assert keys_of("sp|P69905|HBA_HUMAN Hemoglobin OS=Homo sapiens OX=9606") == {
        "OS": "Homo sapiens",
        "OX": "9606",
    }
    assert keys_of("NM_1 [organism=Mus musculus] [strain=B6]") == {"organism": "Mus musculus", "strain": "B6"}
    assert keys_of("nothing here") == {}


@pytest.mark.parametrize("mark", ["|", " ", " | "])
def test_parts_of_headers_are_columns_named_by_what_they_hold(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "proteins.fasta"
    parts = [
        ("P" + str(n), ("Nucleus", "Membrane")[n % 2], f"len{n}", ("train", "test")[n % 3 == 0])
        for n in range(24)
    ]
    path.write_text("".join(f">{mark.join(part)}\nACGT\n" for part in parts))
    source = open_source(path, DataSettings())
    assert source.columns == ["id", "text", "label", "header_3", "split"]
    found = [tuple(row.values[name] for name in ("label", "header_3", "split")) for row in source.rows()]
    assert found == [part[1:] for part in parts]


def test_headers_of_free_text_have_no_further_columns(tmp_path: Path) -> None:
    path = tmp_path / "proteins.fasta"
    path.write_text("".join(f">P{n} {'alpha ' * (n % 3)}chain\nACGT\n" for n in range(24)))
    assert open_source(path, DataSettings()).columns == ["id", "text"]
