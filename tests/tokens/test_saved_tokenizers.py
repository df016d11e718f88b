"""Folders that hold no tokenizer, a damaged one, or one from elsewhere."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import RunError
from seqlab.tokens.base import tokenizers
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.tokenizer_folder import HEADER, load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import PAD, UNK

KINDS = sorted(
    set(tokenizers.names()) - {"hugging_face"}
)  # which is kept as it was published, and never learned: test_hugging_face.py
SUBWORDS = ["bpe", "unigram", "wordpiece"]


def saved(kind: str, folder: Path) -> Path:
    tokenizer = tokenizers.get(kind).fit(
        ["the cat sat on the mat", "the cat"] * 4, TokenSettings(size=300), specials=[UNK, PAD]
    )
    save_tokenizer(tokenizer, folder)
    return folder


def test_an_empty_folder_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=rf"{HEADER}: there is no such file"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (
            {"format": 2, "kind": "words", "lowercase": False},
            "has format 2, .*reads formats up to 1",
        ),
        ({"format": "1", "kind": "words", "lowercase": False}, "does not state its format version"),
        ({"kind": "words", "lowercase": False}, "does not state its format version"),
        ({"format": 1, "kind": "word", "lowercase": False}, "unknown kind of tokenizer"),
        ({"format": 1, "kind": ["words"], "lowercase": False}, "unknown kind of tokenizer"),
        ({"format": 1, "kind": "../os", "lowercase": False}, "unknown kind of tokenizer"),
        ({"format": 1, "kind": "saving", "lowercase": False}, "unknown kind of tokenizer"),
        ({"format": 1, "kind": "words", "lowercase": "no"}, "whether the text is lowercased"),
    ],
)
def test_a_wrong_header_is_refused_with_words(header: dict[str, Any], words: str, tmp_path: Path) -> None:
    saved("words", tmp_path)
    (tmp_path / HEADER).write_text(json.dumps(header))
    with pytest.raises(RunError, match=words):
        load_tokenizer(tmp_path)


def test_an_unknown_kind_gets_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / HEADER).write_text('{"format": 1, "kind": "wordpeice", "lowercase": false}')
    with pytest.raises(RunError, match="Did you mean 'wordpiece'"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation_is_refused(kind: str, tmp_path: Path) -> None:
    folder = saved(kind, tmp_path)
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        for length in [0, 1, len(whole) // 3, len(whole) - 3]:
            path.write_bytes(whole[:length])
            with pytest.raises(RunError, match=path.name):
                load_tokenizer(folder)
        path.unlink()
        with pytest.raises(RunError, match="there is no such file"):
            load_tokenizer(folder)
        path.write_bytes(whole)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_another_kind_is_refused(kind: str, tmp_path: Path) -> None:
    """Only a list of words may serve as another list of words."""
    folder = saved(kind, tmp_path)
    for other in sorted(set(KINDS) - {kind, "whitespace", "words"}):
        (folder / HEADER).write_text(json.dumps({"format": 1, "kind": other, "lowercase": False}))
        with pytest.raises(RunError, match=r"tokenizer\.json|vocabulary\.json"):
            load_tokenizer(folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [210_000_000, 500_000_000])
def test_a_huge_file_is_refused_without_reading_it(kind: str, size: int, tmp_path: Path) -> None:
    folder = saved(kind, tmp_path)
    path = next(path for path in folder.iterdir() if path.name != HEADER)
    with path.open("wb") as file:
        file.truncate(size)  # a hole, no disk space
    start = time.perf_counter()
    with pytest.raises(RunError, match=rf"is {size // 1_000_000}\.0 MB, larger than the limit"):
        load_tokenizer(folder)
    assert time.perf_counter() - start < 1


def test_a_folder_or_device_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / HEADER).mkdir()
    with pytest.raises(RunError, match="is not a regular file"):
        load_tokenizer(tmp_path)
    (tmp_path / HEADER).rmdir()
    (tmp_path / HEADER).symlink_to("/dev/zero")
    with pytest.raises(RunError, match="is not a regular file"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("kind", SUBWORDS)
@pytest.mark.parametrize(
    "change",
    [
        {"model": None},
        {"model": {}},
        {"model": {"vocab": {"<unk>": 0, "<pad>": 7}, "merges": []}},
        {"model": {"vocab": {"<unk>": "0"}, "merges": [["a"]]}},
        {"model": {"vocab": [["<unk>", 0], ["<pad>", "x"]], "merges": 3}},
        {"model": {"vocab": [["<unk>", float("nan")], ["<pad>", 0]]}},
        {"model": {"vocab": [["<unk>", 0], ["<pad>", 0], ["<pad>", 0]]}},
        {"model": {"vocab": [[3, 0], ["<pad>", 0]]}},
        {"model": {"vocab": {}, "merges": [["x", "y"]]}},
        {"added_tokens": []},
        {"added_tokens": {"content": "<unk>"}},
        {"added_tokens": [{"content": "<pad>"}, {"content": "<unk>"}]},
        {"added_tokens": [{"content": 3}]},
        {"added_tokens": [{}]},
    ],
)
def test_a_tokenizer_json_of_wrong_shape_is_refused(
    kind: str, change: dict[str, Any], tmp_path: Path
) -> None:
    folder = saved(kind, tmp_path)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RunError, match=f"does not hold a {kind} tokenizer"):
        load_tokenizer(folder)


@pytest.mark.parametrize("kind", SUBWORDS)
def test_patterns_in_a_file_are_not_obeyed(kind: str, tmp_path: Path) -> None:
    """A saved file may say anything about how text is prepared; only its pieces are used."""
    folder = saved(kind, tmp_path)
    before = load_tokenizer(folder).encode("the cat sat").tolist()
    path = folder / "tokenizer.json"
    data = json.loads(path.read_text())
    data["normalizer"] = {"type": "Replace", "pattern": {"Regex": "(a|a)*$"}, "content": "x"}
    data["truncation"] = {"max_length": 1}
    path.write_text(json.dumps(data))
    assert load_tokenizer(folder).encode("the cat sat").tolist() == before
