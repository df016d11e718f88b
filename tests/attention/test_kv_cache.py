"""Keys and values that are kept: whatever is done to a past, it is plain concatenation."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seqlab.attention.kv_cache import MIN_CAPACITY, KVCache
from seqlab.attention.masks import AttentionMask
from seqlab.attention.multi_head import MultiHeadSelfAttention

HEADS, KEY, VALUE = 2, 3, 5


def piece(batch: int, steps: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, HEADS, steps, KEY, generator=generator), torch.randn(
        batch, HEADS, steps, VALUE, generator=generator
    )


def assert_holds(cache: KVCache, keys: Tensor, values: Tensor) -> None:
    assert cache.length == keys.shape[2]
    assert torch.equal(cache.keys, keys)
    assert torch.equal(cache.values, values)


@pytest.mark.slow
@given(st.data())
def test_any_walk_of_extending_branching_picking_and_forgetting_equals_concatenation(
    data: st.DataObject,
) -> None:
    """A tree of pasts grows from any of its nodes, and at the end every node still holds what it was
    given.
    """
    keys, values = piece(3, data.draw(st.integers(1, 5)), 0)
    nodes = [(KVCache.from_tensors(keys.clone(), values.clone()), keys, values)]
    with torch.no_grad():
        for number in range(1, data.draw(st.integers(1, 12)) + 1):
            cache, keys, values = nodes[data.draw(st.integers(0, len(nodes) - 1))]
            action = data.draw(st.sampled_from(["extend", "extend", "pick", "forget", "move"]))
            if action == "extend":
                more = piece(len(keys), data.draw(st.sampled_from([1, 1, 2, 40])), number)
                nodes.append(
                    (
                        cache.extend(*more),
                        torch.cat([keys, more[0]], dim=2),
                        torch.cat([values, more[1]], dim=2),
                    )
                )
            elif action == "pick":
                rows = torch.tensor(
                    data.draw(st.lists(st.integers(0, len(keys) - 1), min_size=1, max_size=4))
                )
                nodes.append((cache[rows], keys[rows], values[rows]))
            elif action == "move":  # a past of its own, given up at once
                rows = torch.tensor(
                    data.draw(st.lists(st.integers(0, len(keys) - 1), min_size=len(keys), max_size=len(keys)))
                )
                more = piece(len(keys), 2, number)
                longer = cache[torch.arange(len(keys)).flip(0)].extend(*(part.flip(0) for part in more))
                order = rows.flip(0)
                expected = [
                    torch.cat(parts, dim=2).flip(0)[order] for parts in ((keys, more[0]), (values, more[1]))
                ]
                nodes.append((longer.reorder(order), *expected))
            else:
                length = data.draw(st.integers(1, 6))
                nodes.append((cache.truncate(length), keys[:, :, -length:], values[:, :, -length:]))
    for node in nodes:
        assert_holds(*node)


def test_a_step_is_written_without_copying_the_others() -> None:
    cache = KVCache.from_tensors(*piece(2, 3, 0)).extend(*piece(2, 1, 1))
    where = cache.keys.data_ptr(), cache.values.data_ptr()
    moves = 0
    for step in range(4, 200):
        cache = cache.extend(*piece(2, 1, step))
        if (cache.keys.data_ptr(), cache.values.data_ptr()) != where:
            moves, where = moves + 1, (cache.keys.data_ptr(), cache.values.data_ptr())
    assert cache.length == 200
    assert moves == 2  # room for 64 steps, then twice as much as needed: 130, 262


def test_a_second_continuation_gets_memory_of_its_own() -> None:
    start = KVCache.from_tensors(*piece(2, 3, 0)).extend(*piece(2, 1, 1))
    first = start.extend(*piece(2, 1, 2))
    second = start.extend(*piece(2, 1, 3))
    assert first.keys.data_ptr() == start.keys.data_ptr() != second.keys.data_ptr()
    assert torch.equal(first.keys[:, :, 4:], piece(2, 1, 2)[0])
    assert torch.equal(second.keys[:, :, 4:], piece(2, 1, 3)[0])


def test_what_was_given_is_never_written_to() -> None:
    keys, values = piece(2, 3, 0)
    kept = keys.clone(), values.clone()
    for step in range(1, 4):
        KVCache.from_tensors(keys, values).extend(*piece(2, 2, step))
    assert torch.equal(keys, kept[0])
    assert torch.equal(values, kept[1])


def test_picking_every_row_in_its_order_copies_nothing() -> None:
    cache = KVCache.from_tensors(*piece(3, 4, 0))
    assert cache[torch.arange(3)] is cache
    assert cache[torch.tensor([0, 1])].keys.shape[0] == 2


def test_moving_writes_only_where_another_past_comes() -> None:
    """In memory of its own nothing is allocated; where that is not so, moving is picking."""
    with torch.inference_mode():
        cache = KVCache.from_tensors(*piece(4, 3, 0)).extend(*piece(4, 1, 1))
        keys, values, rows = cache.keys.clone(), cache.values.clone(), torch.tensor([2, 1, 2, 0])
        where = cache.keys.data_ptr()
        moved = cache.reorder(rows)
        assert moved.keys.data_ptr() == where
        assert_holds(moved, keys[rows], values[rows])
        shorter, longer = moved, moved.extend(*piece(4, 1, 2))
        assert shorter.reorder(rows).keys.data_ptr() != where  # somebody has written behind it
        assert_holds(
            longer,
            torch.cat([keys[rows], piece(4, 1, 2)[0]], dim=2),
            torch.cat([values[rows], piece(4, 1, 2)[1]], dim=2),
        )
    fewer = longer.reorder(torch.tensor([3, 3]))
    assert torch.equal(fewer.keys, longer.keys[[3, 3]])


def test_forgetting_bounds_the_memory() -> None:
    cache = KVCache.from_tensors(*piece(1, 2, 0))
    longest = 0
    for step in range(1, 1000):
        cache = cache.extend(*piece(1, 1, step)).truncate(9)
        longest = max(longest, cache.keys.untyped_storage().nbytes() // (HEADS * KEY * 4))
    assert longest == MIN_CAPACITY
    assert torch.equal(cache.keys, torch.cat([piece(1, 1, step)[0] for step in range(991, 1000)], dim=2))


def test_gradients_flow_through_a_past() -> None:
    keys, values = (part.double().requires_grad_() for part in piece(2, 2, 0))
    more_keys, more_values = (part.double().requires_grad_() for part in piece(2, 1, 1))

    def walk(*parts: Tensor) -> tuple[Tensor, Tensor]:
        cache = (
            KVCache.from_tensors(*parts[:2])
            .extend(*parts[2:])[torch.tensor([1, 0, 1])]
            .extend(*(part[[0, 1, 1]] for part in parts[2:]))
            .truncate(3)
        )
        return cache.keys, cache.values

    assert torch.autograd.gradcheck(walk, (keys, values, more_keys, more_values))


def test_gradients_flow_when_only_values_learn() -> None:
    keys, values = piece(2, 2, 0)
    more_keys, more_values = piece(2, 1, 1)
    more_values.requires_grad_()
    cache = KVCache.from_tensors(keys, values).extend(keys, values).extend(more_keys, more_values)
    cache.values.sum().backward()
    assert more_values.grad is not None
    assert torch.equal(more_values.grad, torch.ones_like(more_values))


def test_a_past_made_while_predicting_can_go_on_outside() -> None:
    with torch.inference_mode():
        cache = KVCache.from_tensors(*piece(2, 3, 0)).extend(*piece(2, 1, 1))
    longer = cache.extend(*piece(2, 1, 2))
    assert_holds(
        longer,
        *(
            torch.cat(parts, dim=2)
            for parts in zip(piece(2, 3, 0), piece(2, 1, 1), piece(2, 1, 2), strict=True)
        ),
    )


def test_training_through_a_past_equals_training_on_the_whole() -> None:
    torch.manual_seed(0)
    attention = MultiHeadSelfAttention(6, num_heads=2).double()
    steps = torch.randn(2, 7, 6, dtype=torch.float64)
    whole, _ = attention(steps, mask=AttentionMask(causal=True))
    expected = torch.autograd.grad(whole.square().sum(), list(attention.parameters()))
    first, cache = attention(steps[:, :3], mask=AttentionMask(causal=True))
    second, _ = attention(steps[:, 3:], mask=AttentionMask(causal=True), cache=cache)
    found = torch.autograd.grad(first.square().sum() + second.square().sum(), list(attention.parameters()))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
