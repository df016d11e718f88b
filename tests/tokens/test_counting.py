from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from seqlab.tokens.chunks import cut, even_parts
from seqlab.tokens.counting import LONGEST_PIECE, count_pieces


@given(st.lists(st.lists(st.sampled_from("abcdef"))))
def test_counts_are_exact_while_they_fit(texts: list[list[str]]) -> None:
    assert count_pieces(texts, most=6) == Counter(piece for text in texts for piece in text)


def test_a_stream_of_ever_new_words_does_not_fill_the_memory() -> None:
    largest = 0
    texts = (["the", "the", f"new{number}"] for number in range(5_000))
    counts = count_pieces(texts, most=100)
    largest = max(largest, len(counts))
    assert largest <= 100
    assert counts["the"] == 10_000


def test_pieces_that_no_file_should_hold_are_not_learnt() -> None:
    assert count_pieces([["a", "x" * (LONGEST_PIECE + 1), "\ud800", "y" * LONGEST_PIECE]]) == Counter(
        {"a": 1, "y" * LONGEST_PIECE: 1}
    )


@given(st.lists(st.text("ab \n", max_size=30)), st.integers(1, 9))
def test_even_parts_are_the_whole_text(texts: list[str], size: int) -> None:
    parts = list(even_parts(texts, size=size))
    assert "".join(parts) == "".join(texts)
    assert all(size <= len(part) < 2 * size for part in parts[:-1])


@given(st.text("ab \n", max_size=60), st.integers(1, 9), st.integers(1, 9) | st.none())
def test_cut_parts_are_the_whole_text_and_begin_at_borders(text: str, size: int, extra: int | None) -> None:
    parts = list(cut(text, re.compile(r"\s"), size=size, longest=None if extra is None else size + extra))
    assert "".join(parts) == text
    assert "" not in parts
    if extra is None:
        assert all(part[0].isspace() for part in parts[1:])
    else:
        assert all(len(part) <= size + extra for part in parts)
