"""Keys and values that are kept: whatever is done to a past, it is plain concatenation."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seqlab.attention.kv_cache import SMALLEST, Past
from seqlab.attention.masks import Sight
from seqlab.attention.multi_head import MultiHeadSelfAttention

HEADS, KEY, VALUE = 2, 3, 5


def piece(batch: int, steps: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, HEADS, steps, KEY, generator=generator), torch.randn(batch, HEADS, steps, VALUE, generator=generator)


def assert_holds(past: Past, keys: Tensor, values: Tensor) -> None:
    assert past.length == keys.shape[2]
    assert torch.equal(past.keys, keys)
    assert torch.equal(past.values, values)


@given(st.data())
def test_any_walk_of_extending_branching_picking_and_forgetting_equals_concatenation(data: st.DataObject) -> None:
    """A tree of pasts grows from any of its nodes, and at the end every node still holds what it was given."""
    keys, values = piece(3, data.draw(st.integers(1, 5)), 0)
    nodes = [(Past.of(keys.clone(), values.clone()), keys, values)]
    with torch.no_grad():
        for number in range(1, data.draw(st.integers(1, 12)) + 1):
            past, keys, values = nodes[data.draw(st.integers(0, len(nodes) - 1))]
            action = data.draw(st.sampled_from(["extend", "extend", "pick", "forget", "move"]))
            if action == "extend":
                more = piece(len(keys), data.draw(st.sampled_from([1, 1, 2, 40])), number)
                nodes.append((past.extended(*more), torch.cat([keys, more[0]], dim=2), torch.cat([values, more[1]], dim=2)))
            elif action == "pick":
                rows = torch.tensor(data.draw(st.lists(st.integers(0, len(keys) - 1), min_size=1, max_size=4)))
                nodes.append((past[rows], keys[rows], values[rows]))
            elif action == "move":  # a past of its own, given up at once
                rows = torch.tensor(data.draw(st.lists(st.integers(0, len(keys) - 1), min_size=len(keys), max_size=len(keys))))
                more = piece(len(keys), 2, number)
                longer = past[torch.arange(len(keys)).flip(0)].extended(*(part.flip(0) for part in more))
                order = rows.flip(0)
                expected = [torch.cat(parts, dim=2).flip(0)[order] for parts in ((keys, more[0]), (values, more[1]))]
                nodes.append((longer.moved(order), *expected))
            else:
                length = data.draw(st.integers(1, 6))
                nodes.append((past.recent(length), keys[:, :, -length:], values[:, :, -length:]))
    for node in nodes:
        assert_holds(*node)


def test_a_step_is_written_without_copying_the_others() -> None:
    past = Past.of(*piece(2, 3, 0)).extended(*piece(2, 1, 1))
    where = past.keys.data_ptr(), past.values.data_ptr()
    moves = 0
    for step in range(4, 200):
        past = past.extended(*piece(2, 1, step))
        if (past.keys.data_ptr(), past.values.data_ptr()) != where:
            moves, where = moves + 1, (past.keys.data_ptr(), past.values.data_ptr())
    assert past.length == 200
    assert moves == 2  # room for 64 steps, then twice as much as needed: 130, 262


def test_a_second_continuation_gets_memory_of_its_own() -> None:
    start = Past.of(*piece(2, 3, 0)).extended(*piece(2, 1, 1))
    first = start.extended(*piece(2, 1, 2))
    second = start.extended(*piece(2, 1, 3))
    assert first.keys.data_ptr() == start.keys.data_ptr() != second.keys.data_ptr()
    assert torch.equal(first.keys[:, :, 4:], piece(2, 1, 2)[0])
    assert torch.equal(second.keys[:, :, 4:], piece(2, 1, 3)[0])


def test_what_was_given_is_never_written_to() -> None:
    keys, values = piece(2, 3, 0)
    kept = keys.clone(), values.clone()
    for step in range(1, 4):
        Past.of(keys, values).extended(*piece(2, 2, step))
    assert torch.equal(keys, kept[0])
    assert torch.equal(values, kept[1])


def test_picking_every_row_in_its_order_copies_nothing() -> None:
    past = Past.of(*piece(3, 4, 0))
    assert past[torch.arange(3)] is past
    assert past[torch.tensor([0, 1])].keys.shape[0] == 2


def test_moving_writes_only_where_another_past_comes() -> None:
    """In memory of its own nothing is allocated; where that is not so, moving is picking."""
    with torch.inference_mode():
        past = Past.of(*piece(4, 3, 0)).extended(*piece(4, 1, 1))
        keys, values, rows = past.keys.clone(), past.values.clone(), torch.tensor([2, 1, 2, 0])
        where = past.keys.data_ptr()
        moved = past.moved(rows)
        assert moved.keys.data_ptr() == where
        assert_holds(moved, keys[rows], values[rows])
        shorter, longer = moved, moved.extended(*piece(4, 1, 2))
        assert shorter.moved(rows).keys.data_ptr() != where  # somebody has written behind it
        assert_holds(longer, torch.cat([keys[rows], piece(4, 1, 2)[0]], dim=2), torch.cat([values[rows], piece(4, 1, 2)[1]], dim=2))
    fewer = longer.moved(torch.tensor([3, 3]))
    assert torch.equal(fewer.keys, longer.keys[[3, 3]])


def test_forgetting_bounds_the_memory() -> None:
    past = Past.of(*piece(1, 2, 0))
    longest = 0
    for step in range(1, 1000):
        past = past.extended(*piece(1, 1, step)).recent(9)
        longest = max(longest, past.keys.untyped_storage().nbytes() // (HEADS * KEY * 4))
    assert longest == SMALLEST
    assert torch.equal(past.keys, torch.cat([piece(1, 1, step)[0] for step in range(991, 1000)], dim=2))


def test_gradients_flow_through_a_past() -> None:
    keys, values = (part.double().requires_grad_() for part in piece(2, 2, 0))
    more_keys, more_values = (part.double().requires_grad_() for part in piece(2, 1, 1))

    def walk(*parts: Tensor) -> tuple[Tensor, Tensor]:
        past = Past.of(*parts[:2]).extended(*parts[2:])[torch.tensor([1, 0, 1])].extended(*(part[[0, 1, 1]] for part in parts[2:])).recent(3)
        return past.keys, past.values

    assert torch.autograd.gradcheck(walk, (keys, values, more_keys, more_values))


def test_gradients_flow_when_only_values_learn() -> None:
    keys, values = piece(2, 2, 0)
    more_keys, more_values = piece(2, 1, 1)
    more_values.requires_grad_()
    past = Past.of(keys, values).extended(keys, values).extended(more_keys, more_values)
    past.values.sum().backward()
    assert more_values.grad is not None
    assert torch.equal(more_values.grad, torch.ones_like(more_values))


def test_a_past_made_while_predicting_can_go_on_outside() -> None:
    with torch.inference_mode():
        past = Past.of(*piece(2, 3, 0)).extended(*piece(2, 1, 1))
    longer = past.extended(*piece(2, 1, 2))
    assert_holds(longer, *(torch.cat(parts, dim=2) for parts in zip(piece(2, 3, 0), piece(2, 1, 1), piece(2, 1, 2), strict=True)))


def test_training_through_a_past_equals_training_on_the_whole() -> None:
    torch.manual_seed(0)
    attention = MultiHeadSelfAttention(6, num_heads=2).double()
    steps = torch.randn(2, 7, 6, dtype=torch.float64)
    whole, _ = attention(steps, sight=Sight(causal=True))
    expected = torch.autograd.grad(whole.square().sum(), list(attention.parameters()))
    first, past = attention(steps[:, :3], sight=Sight(causal=True))
    second, _ = attention(steps[:, 3:], sight=Sight(causal=True), past=past)
    found = torch.autograd.grad(first.square().sum() + second.square().sum(), list(attention.parameters()))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
