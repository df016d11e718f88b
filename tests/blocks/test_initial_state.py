"""Where a sequence starts: nothing, luck, or what was learned."""

from __future__ import annotations

import pytest
import torch

from seqlab.blocks.recurrent_layer import INITIAL_STATES, LearnedState
from tests.blocks.stacks_to_try import build, ragged

SIZES = (300, 200)
LIKE = torch.zeros(1, dtype=torch.float64)


@pytest.mark.spec(73)
@pytest.mark.parametrize("name", INITIAL_STATES)
def test_there_is_one_row_for_each_sequence_and_part(name: str) -> None:
    state = INITIAL_STATES[name](SIZES).double()(7, LIKE)
    assert [(part.shape, part.dtype) for part in state] == [((7, size), torch.float64) for size in SIZES]


@pytest.mark.spec(73)
def test_zeros_are_zero() -> None:
    assert not any(part.any() for part in INITIAL_STATES["zeros"](SIZES)(7, LIKE))


@pytest.mark.spec(73)
@pytest.mark.parametrize("name", ["random", "xavier"])
def test_a_drawn_state_has_the_spread_it_says(name: str) -> None:
    torch.manual_seed(4)
    initial = INITIAL_STATES[name](SIZES)
    first, second = initial(100, LIKE), initial(100, LIKE)
    for size, part, again in zip(SIZES, first, second, strict=True):
        spread = 1.0 if name == "random" else (2 / (100 + size)) ** 0.5
        assert part.std().item() == pytest.approx(spread, rel=0.02)
        assert abs(part.mean().item()) < 0.03 * spread
        assert not torch.equal(part, again)  # a new draw for every batch
        assert not torch.equal(part[0], part[1])  # and for every sequence


@pytest.mark.spec(73)
@pytest.mark.parametrize("name", ["random", "xavier"])
def test_no_result_depends_on_luck_after_training(name: str) -> None:
    assert not any(part.any() for part in INITIAL_STATES[name](SIZES).eval()(7, LIKE))


@pytest.mark.spec(73)
def test_a_learned_state_is_the_same_for_all_sequences_and_gets_their_gradients() -> None:
    initial = LearnedState((3, 2))
    with torch.no_grad():
        initial.parts[0].copy_(torch.tensor([1.0, 2.0, 3.0]))
    hidden, memory = initial(4, LIKE)
    assert hidden.tolist() == [[1.0, 2.0, 3.0]] * 4
    assert not memory.any()
    (hidden * torch.tensor([[1.0], [2.0], [3.0], [4.0]])).sum().backward()
    assert initial.parts[0].grad is not None
    assert initial.parts[0].grad.tolist() == [10.0] * 3


@pytest.mark.spec(73)
@pytest.mark.parametrize("bidirectional", [True, False])
def test_a_stack_starts_from_its_learned_state_as_from_a_given_one(bidirectional: bool) -> None:
    stack = build("lstm", sizes=(5, 3), bidirectional=bidirectional, initial_state="learned")
    zeros = build("lstm", sizes=(5, 3), bidirectional=bidirectional)
    zeros.load_state_dict(
        {name: value for name, value in stack.state_dict().items() if ".initial." not in name}
    )
    steps, is_token = ragged()
    learned = stack.initial_state(len(steps), steps)
    assert all(part.any() for part in learned)
    torch.testing.assert_close(stack(steps, is_token), zeros(steps, is_token, learned), rtol=0, atol=1e-12)
    assert not torch.equal(stack(steps, is_token)[0], zeros(steps, is_token)[0])
