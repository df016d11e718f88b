"""Who may look at whom: masks against plain loops."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seqlab.attention.masks import (
    AttentionMask,
    attention_mask,
    causal_mask,
    num_steps_to_keep,
    sliding_window_mask,
)
from seqlab.core.errors import UsageError

CPU = torch.device("cpu")


def allowed(mask: AttentionMask, batch: int, target: int, source: int) -> Tensor:
    """Which pairs a sight leaves, with all that is in it."""
    mask = mask.materialize(target, source, device=CPU)
    assert mask.window == 0
    assert not (mask.causal and mask.tensor is not None), "kernels take one of the two"
    assert not (mask.causal and target != source), "kernels count from the first step"
    tensor = torch.ones(1, 1, 1, 1, dtype=torch.bool) if mask.tensor is None else mask.tensor
    tensor = tensor if tensor.dtype == torch.bool else tensor != -torch.inf
    past = (
        torch.ones(target, source, dtype=torch.bool).tril()
        if mask.causal
        else torch.ones(target, source, dtype=torch.bool)
    )
    return (tensor & past).expand(batch, -1, target, source)[:, 0]


@pytest.mark.spec(147)
@pytest.mark.parametrize(("target", "source"), [(5, 5), (1, 1), (1, 7), (3, 7), (7, 7)])
def test_the_last_steps_look_at_themselves_and_back(target: int, source: int) -> None:
    places = range(source - target, source)
    assert causal_mask(target, source).tolist() == [
        [key <= query for key in range(source)] for query in places
    ]
    for window in (1, 2, 4, 9):
        expected = [[abs(key - query) < window for key in range(source)] for query in places]
        assert sliding_window_mask(target, source, window=window).tolist() == expected


@given(st.data())
def test_a_sight_is_what_its_parts_take_away(data: st.DataObject) -> None:
    batch, source = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    target = data.draw(st.integers(1, source))
    causal, window = data.draw(st.booleans()), data.draw(st.integers(0, 4))
    rows = data.draw(st.sampled_from([1, target]))
    tensor = torch.tensor(
        data.draw(st.lists(st.booleans(), min_size=batch * rows * source, max_size=batch * rows * source))
    )
    tensor = tensor.view(batch, 1, rows, source)
    added = torch.where(tensor, torch.randn(tensor.shape), -torch.inf)
    expected = [
        [
            [
                bool(tensor[row, 0, query if rows > 1 else 0, key])
                and (not causal or key <= query + source - target)
                and (not window or abs(query + source - target - key) < window)
                for key in range(source)
            ]
            for query in range(target)
        ]
        for row in range(batch)
    ]
    assert (
        allowed(AttentionMask(tensor, causal=causal, window=window), batch, target, source).tolist()
        == expected
    )
    assert (
        allowed(AttentionMask(added, causal=causal, window=window), batch, target, source).tolist()
        == expected
    )


def seen_by_hand(known: Tensor, *, time: int, causal: bool, window: int) -> list[list[list[bool]]]:
    """The same by loops; a step counts the real steps between."""
    source = known.shape[1]
    places = [
        [int(row[: source - time][:step].sum()) + max(0, step - source + time) for step in range(source)]
        for row in known
    ]

    def sees(row: int, query: int, key: int) -> bool:
        near = not window or abs(places[row][query] - places[row][key]) < window
        return bool(known[row, key]) and (not causal or key <= query) and near

    return [
        [[sees(row, query, key) for key in range(source)] for query in range(source - time, source)]
        for row in range(len(known))
    ]


@pytest.mark.spec(147)
@given(data=st.data())
def test_the_sight_of_real_queries_is_right_after_any_ragged_pieces(data: st.DataObject) -> None:
    causal, window = data.draw(st.booleans()), data.draw(st.integers(0, 4))
    widths = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3 if causal else 1))
    lengths = [[data.draw(st.integers(0, width)) for width in widths] for _ in range(3)]
    known = torch.cat(
        [torch.arange(width) < torch.tensor(lengths)[:, piece, None] for piece, width in enumerate(widths)],
        dim=1,
    )
    time, source = widths[-1], sum(widths)
    mask = attention_mask(known, time=time, causal=causal, window=window)
    real = known[:, source - time :]
    expected = torch.tensor(seen_by_hand(known, time=time, causal=causal, window=window))
    assert torch.equal(allowed(mask, 3, time, source)[real], expected[real])

    bias = torch.randn(1, 2, time, source)
    biased = attention_mask(known, time=time, causal=causal, window=window, bias=bias)
    assert biased.tensor is not None
    assert not biased.causal
    assert torch.equal(
        biased.tensor.expand(3, 2, time, source).transpose(1, 2)[real],
        torch.where(expected[:, None], bias, -torch.inf).transpose(1, 2)[real],
    )


def test_without_need_there_is_no_mask() -> None:
    full, ragged = torch.ones(2, 5, dtype=torch.bool), torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    assert attention_mask(full, time=5, causal=False) == AttentionMask()
    assert attention_mask(full, time=5, causal=True) == AttentionMask(causal=True)
    assert attention_mask(ragged, time=5, causal=True) == AttentionMask(
        causal=True
    )  # real steps look back and see no padding
    assert attention_mask(full, time=1, causal=True) == AttentionMask()
    assert attention_mask(full, time=5, causal=True, window=9) == AttentionMask(causal=True)
    padding = attention_mask(ragged, time=5, causal=False)
    assert padding.tensor is not None
    assert padding.tensor.shape == (2, 1, 1, 5)  # broadcast over heads and queries: no memory of (time, time)
    long = attention_mask(torch.ones(1, 200, dtype=torch.bool), time=200, causal=True, window=4)
    assert long == AttentionMask(causal=True, window=4)  # cut into blocks, without a mask of (200, 200)


@given(st.lists(st.lists(st.booleans(), min_size=12, max_size=12), min_size=1, max_size=3), st.integers(1, 6))
def test_only_steps_out_of_sight_are_let_go(rows: list[list[bool]], window: int) -> None:
    known = torch.tensor(rows)
    kept = num_steps_to_keep(known, window=window)
    for row in rows:
        reals = [step for step, real in enumerate(row) if real]
        seen_later = reals[-(window - 1) :] if window > 1 else []
        assert all(step >= 12 - kept for step in seen_later)
    if known.all() and 2 * window <= 12:
        assert kept == window - 1
    assert num_steps_to_keep(known, window=0) == 12


@pytest.mark.parametrize(
    ("mask", "facts"),
    [
        (
            torch.ones(3, 7, dtype=torch.bool),
            ("shape (3, 7)", "(batch 3, heads 2, target 5, source 7)"),
        ),
        (
            torch.ones(3, 2, 7, 5, dtype=torch.bool),
            ("shape (3, 2, 7, 5)", "(batch 3, heads 2, target 5, source 7)"),
        ),
        (
            torch.ones(3, 2, 5, 1),
            ("shape (3, 2, 5, 1)", "(batch 3, heads 2, target 5, source 7)"),
        ),
        (
            torch.ones(3, 2, 5, 7, dtype=torch.int32),
            ("dtype int32", "dtype float32"),
        ),
        (
            torch.ones(3, 2, 5, 7, dtype=torch.float64),
            ("dtype float64", "dtype float32"),
        ),
    ],
    ids=["two axes", "swapped axes", "one key", "whole numbers", "double"],
)
def test_a_mask_that_does_not_fit_is_refused_in_words(mask: Tensor, facts: tuple[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        AttentionMask(mask).check((3, 2, 5, 7), torch.float32)
    assert [fact for fact in facts if fact not in caught.value.what] == []
    assert " mask " in caught.value.cure
