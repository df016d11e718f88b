"""Sequences cut where they are longer than a window."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seqlab.batches.windows import Spans

lists = st.lists(st.integers(0, 11), min_size=1, max_size=9)


@given(lists, st.integers(1, 5))
def test_the_pieces_are_what_cutting_one_sequence_after_the_other_gives(
    lengths: list[int], window: int
) -> None:
    offsets = np.cumsum([0, *lengths])
    expected = [
        (start, min(start + window, end))
        for begin, end in pairwise(offsets)
        for start in range(begin, end, window)
    ]
    spans = Spans.cut(offsets, window=window)
    assert list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)) == [
        (int(start), int(end)) for start, end in expected
    ]
    assert spans.lengths.tolist() == [end - start for start, end in expected]


@given(lists, st.integers(1, 5), st.randoms(use_true_random=False))
def test_spans_with_a_wanted_id_are_kept(lengths: list[int], window: int, chance: object) -> None:
    offsets = np.cumsum([0, *lengths])
    values = np.array([chance.randint(0, 3) for _ in range(int(offsets[-1]))], np.uint8)
    is_wanted = np.array([False, False, True, False])
    spans = Spans.cut(offsets, window=window)
    kept = spans.with_any(values, is_wanted)
    expected = [start for start, end in zip(spans.starts, spans.ends, strict=True) if 2 in values[start:end]]
    assert kept.starts.tolist() == expected


def test_the_beginning_is_as_long_as_allowed_and_one_span_at_least() -> None:
    spans = Spans.cut(np.array([0, 3, 8, 9]), window=4)  # of 3, 4, 1 and 1 steps
    assert [len(spans.beginning(at_most=steps)) for steps in (1, 3, 6, 7, 8, 100)] == [1, 1, 1, 2, 3, 4]
