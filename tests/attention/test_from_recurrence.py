"""From gated recurrence to attention: each step holds the one before it as a special case."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from seqlab.attention.from_recurrence import (
    dependent_weights,
    free_candidates,
    free_weights,
    gated_recurrence,
    key_value_attention,
    multi_head_attention,
    recurrent_candidates,
    weighted_sum,
)

BATCH, TIME, IN, HIDDEN = 2, 7, 3, 6


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def same(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)


def gates(*, first_keeps: bool) -> Tensor:
    keep = torch.sigmoid(drawn(BATCH, TIME, HIDDEN, seed=1))
    if not first_keeps:
        keep[:, 0] = 0.0
        keep[:, -1] = 0.0  # the first step of a walk backward
    return keep


@pytest.mark.spec(144)
def test_step_one_the_recurrence_is_a_sum_with_dependent_weights() -> None:
    keep, candidates = gates(first_keeps=True), drawn(BATCH, TIME, HIDDEN)
    same(weighted_sum(dependent_weights(keep), candidates), gated_recurrence(keep, candidates))
    by_hand = (1 - keep[0, 2, 4]) * keep[0, 3, 4] * keep[0, 4, 4] * keep[0, 5, 4]
    assert dependent_weights(keep)[0, 5, 2, 4].item() == pytest.approx(by_hand.item())


@pytest.mark.spec(144)
def test_step_one_in_full_is_the_mean_of_a_walk_forward_and_a_walk_backward() -> None:
    keep, candidates = gates(first_keeps=True), drawn(BATCH, TIME, HIDDEN)
    both = (
        gated_recurrence(keep, candidates) + gated_recurrence(keep.flip(1), candidates.flip(1)).flip(1)
    ) / 2
    same(weighted_sum(dependent_weights(keep, causal=False), candidates), both)


@pytest.mark.spec(144)
@pytest.mark.parametrize("causal", [True, False])
def test_step_two_free_weights_can_be_those_of_any_gates(causal: bool) -> None:
    keep, candidates = gates(first_keeps=False), drawn(BATCH, TIME, HIDDEN)
    weights = dependent_weights(keep, causal=causal)
    same(free_weights(weights.log(), causal=causal), weights)
    same(
        weighted_sum(free_weights(weights.log(), causal=causal), candidates),
        weighted_sum(weights, candidates),
    )


@pytest.mark.spec(144)
def test_step_two_is_freer_than_gates_which_share_one_past() -> None:
    keep = gates(first_keeps=True)
    dependent = (
        dependent_weights(keep)[:, :, 1] / dependent_weights(keep)[:, :, 2]
    )  # how two candidates compare, seen from each later step
    same(dependent[:, 3:], dependent[:, 2:3].expand(-1, TIME - 3, -1))  # gates settle that once and for all
    free = free_weights(drawn(BATCH, TIME, TIME, HIDDEN))
    assert (free[:, 3:, 1] / free[:, 3:, 2]).std(dim=1).min() > 0.01


@pytest.mark.spec(144)
def test_step_three_free_candidates_are_recurrent_ones_that_do_not_look_back() -> None:
    inputs, weight, keep = drawn(BATCH, TIME, IN), drawn(HIDDEN, IN, seed=2), gates(first_keeps=True)
    looking_back = drawn(HIDDEN, HIDDEN, seed=3)
    same(
        free_candidates(inputs, weight),
        recurrent_candidates(inputs, keep, weight, torch.zeros_like(looking_back)),
    )
    candidates = recurrent_candidates(inputs, keep, weight, looking_back)
    states = gated_recurrence(keep, candidates)
    same(candidates[:, 3], torch.tanh(inputs[:, 3] @ weight.T + states[:, 2] @ looking_back.T))
    assert (candidates - free_candidates(inputs, weight)).abs().max() > 0.1


@pytest.mark.spec(144)
@pytest.mark.parametrize("causal", [True, False])
def test_step_four_with_candidates_as_keys_and_values_is_step_three(causal: bool) -> None:
    inputs = drawn(BATCH, TIME, IN)
    candidates, questions = (
        free_candidates(inputs, drawn(HIDDEN, IN, seed=2)),
        F.linear(inputs, drawn(HIDDEN, IN, seed=4)),
    )
    scores = torch.einsum("bth,bsh->bts", questions, candidates).unsqueeze(-1)
    one_weight_for_all_units = weighted_sum(free_weights(scores, causal=causal), candidates)
    same(
        key_value_attention(questions * HIDDEN**0.5, candidates, candidates, causal=causal),
        one_weight_for_all_units,
    )


@pytest.mark.spec(144)
@pytest.mark.parametrize("causal", [True, False])
def test_step_five_with_one_head_is_step_four_and_with_several_it_is_torchs_attention(causal: bool) -> None:
    queries, keys, values = (
        drawn(BATCH, TIME, HIDDEN),
        drawn(BATCH, TIME, HIDDEN, seed=5),
        drawn(BATCH, TIME, HIDDEN, seed=6),
    )
    same(
        multi_head_attention(queries, keys, values, num_heads=1, causal=causal),
        key_value_attention(queries, keys, values, causal=causal),
    )
    apart = [part.view(BATCH, TIME, 3, 2).transpose(1, 2) for part in (queries, keys, values)]
    expected = F.scaled_dot_product_attention(*apart, is_causal=causal).transpose(1, 2).flatten(2)
    same(multi_head_attention(queries, keys, values, num_heads=3, causal=causal), expected)


@pytest.mark.spec(144)
@pytest.mark.parametrize("causal", [True, False])
def test_the_way_round_as_many_heads_as_units_can_be_the_recurrence_again(causal: bool) -> None:
    """Each unit had weights of its own; with one-hot queries, and keys that hold a row of log weights each, a
    head has them too.
    """
    keep, candidates = gates(first_keeps=False), drawn(BATCH, TIME, HIDDEN)
    weights = dependent_weights(keep, causal=causal)  # (batch, target, source, hidden)
    scores = weights.log().clamp(min=-1e4)  # a product with minus infinity and zero is not a number
    places = torch.eye(TIME, dtype=torch.float64).expand(BATCH, -1, -1)
    heads = [
        key_value_attention(
            places * TIME**0.5,
            scores[..., unit].transpose(1, 2),
            candidates[..., unit : unit + 1],
            causal=causal,
        )
        for unit in range(HIDDEN)
    ]
    same(torch.cat(heads, dim=-1), weighted_sum(weights, candidates))


@pytest.mark.spec(144)
def test_causal_sums_do_not_see_what_follows_and_full_ones_do() -> None:
    keep, candidates = gates(first_keeps=True), drawn(BATCH, TIME, HIDDEN)
    changed = candidates.clone()
    changed[:, 4:] += 1.0
    for causal in (True, False):
        steps = [
            lambda values, c=causal: weighted_sum(dependent_weights(keep, causal=c), values),
            lambda values, c=causal: weighted_sum(
                free_weights(drawn(BATCH, TIME, TIME, 1), causal=c), values
            ),
            lambda values, c=causal: key_value_attention(values, values, values, causal=c),
            lambda values, c=causal: multi_head_attention(values, values, values, num_heads=2, causal=c),
        ]
        for step in steps:
            difference = (step(candidates) - step(changed))[:, :4].abs().max()
            assert (difference == 0) if causal else (difference > 1e-3)
