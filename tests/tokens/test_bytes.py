from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.tokens.bytes import Bytes
from seqlab.tokens.vocabulary import PAD, UNK

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=[]))


def test_an_id_is_the_byte_after_the_special_pieces() -> None:
    assert Bytes([UNK, PAD, "<eos>"]).encode("Aß€").tolist() == [3 + byte for byte in "Aß€".encode()]
    assert len(Bytes([UNK, PAD]).vocabulary) == 258


@given(ANY_TEXT)
def test_any_text_comes_back_even_half_surrogates(text: str) -> None:
    tokenizer = Bytes([PAD])
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.join(tokenizer.split(text)) == text


@pytest.mark.slow
@settings(max_examples=2_000)
@given(text=st.text())
def test_text_survives_write_read_tokenise_detokenise(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "text.txt"
    path.write_text(text, encoding="utf-8", newline="")
    with path.open(encoding="utf-8", newline="") as file:
        read = file.read()
    assert Bytes([UNK]).decode(Bytes([UNK]).encode(read)) == text


def test_half_a_character_is_shown_as_unreadable() -> None:
    tokenizer = Bytes([PAD])
    assert tokenizer.decode(tokenizer.encode("a€")[:-1]) == "a\ufffd"
