"""A codec whose code changed does not read the arrays that its earlier code has cached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seqlab.recipes.read import check
from seqlab.sources.tables import open_table
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.labeled.whole_sequence_codec import WholeSequenceCodec

ROWS = [{"text": f"{word} film", "label": word} for word in ("good", "bad", "good", "bad")]


@pytest.fixture
def codec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClassificationCodec]:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    raw: dict[str, Any] = {
        "task": "classification",
        "data": {"text": "text", "label": "label"},
        "tokens": {"kind": "characters"},
    }
    return ClassificationCodec.fit(check(raw, where=""), open_table(ROWS))


def first_class(codec: WholeSequenceCodec) -> int:
    return int(codec.encode_split("train", open_table(ROWS)).store[codec.target_column.name].values[0])


def flipped(codec: ClassificationCodec, *, name: str = "Flipped", version: int = 1) -> ClassificationCodec:
    """The same codec, with code that encodes the classes the other way around."""

    def encode_answer(self: ClassificationCodec, answer: Any, *, where: str) -> Any:
        return 1 - ClassificationCodec.encode_answer(self, answer, where=where)

    kind = type(name, (ClassificationCodec,), {"encode_answer": encode_answer, "version": version})
    return kind(**vars(replace(codec)))


def test_another_class_of_the_same_task_encodes_its_own_arrays(codec: ClassificationCodec) -> None:
    assert first_class(flipped(codec)) == 1 - first_class(codec)


def test_a_raised_version_encodes_again(codec: ClassificationCodec) -> None:
    before = type("Flipped", (ClassificationCodec,), {})(**vars(codec))
    assert first_class(flipped(before)) == first_class(before)  # the same name and version: the cache answers
    assert first_class(flipped(codec, version=2)) == 1 - first_class(codec)


def test_the_version_of_a_base_class_counts(
    codec: ClassificationCodec, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = codec.cache_key()
    monkeypatch.setattr(WholeSequenceCodec, "version", 2)
    assert codec.cache_key() != before
