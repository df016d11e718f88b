"""The state of an additive update as a weighted sum of its candidates."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seqlab.cells.additive import Additive
from seqlab.cells.derivations.closed_form import printed_weights, unrolled_weights, unrolled_weights_per_step


def recurrence(keep: Tensor, write: Tensor, candidates: Tensor, initial: Tensor) -> list[Tensor]:
    states = [initial]
    for k, w, c in zip(keep, write, candidates, strict=True):
        states.append(k * states[-1] + w * c)
    return states[1:]


def random_case(time: int = 7) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(6)
    keep = torch.rand(time, 3, 5, generator=generator, dtype=torch.float64)
    return (
        keep,
        torch.randn(time, 3, 5, generator=generator, dtype=torch.float64),
        torch.randn(3, 5, generator=generator, dtype=torch.float64),
    )


@pytest.mark.spec(70)
def test_the_weighted_sum_is_the_state() -> None:
    keep, candidates, initial = random_case()
    state = recurrence(keep, 1 - keep, candidates, initial)[-1]
    weights = unrolled_weights(keep)
    torch.testing.assert_close(
        weights.initial * initial + (weights.candidates * candidates).sum(0), state, rtol=0, atol=1e-14
    )
    torch.testing.assert_close(
        weights.initial + weights.candidates.sum(0), torch.ones(3, 5).double(), rtol=0, atol=1e-14
    )


@pytest.mark.spec(70)
def test_each_weight_is_the_product_in_the_formula() -> None:
    keep = [0.9, 0.2, 0.5, 0.7]
    weights = unrolled_weights(torch.tensor(keep, dtype=torch.float64))
    expected = [0.1 * 0.2 * 0.5 * 0.7, 0.8 * 0.5 * 0.7, 0.5 * 0.7, 0.3]
    assert weights.candidates.tolist() == pytest.approx(expected, rel=1e-12)
    assert weights.initial.item() == pytest.approx(0.9 * 0.2 * 0.5 * 0.7, rel=1e-12)


@pytest.mark.spec(70)
def test_the_printed_index_ranges_give_another_number() -> None:
    keep, candidates, _ = random_case()
    state = recurrence(keep, 1 - keep, candidates, torch.zeros(3, 5, dtype=torch.float64))[-1]
    printed = (printed_weights(keep) * candidates).sum(0)
    assert ((printed - state).abs() > 1e-3).all()
    u = [0.9, 0.2, 0.5]  # i = 1: u1 u2 u3;  i = 2: u2 (1 - u1);  i = 3: the first product is empty
    expected = [0.9 * 0.2 * 0.5, 0.2 * 0.1, 0.1 * 0.8]
    assert printed_weights(torch.tensor(u, dtype=torch.float64)).tolist() == pytest.approx(expected)


@pytest.mark.spec(70)
def test_the_scan_of_a_cell_is_the_weighted_sum_of_its_candidates() -> None:
    torch.manual_seed(2)
    cell = Additive(3, 4).double()
    state = initial = torch.randn(2, 4, dtype=torch.float64)
    keeps, candidates = [], []
    for x in torch.randn(6, 2, 3, dtype=torch.float64):
        gates = cell.gates(cell.project(x), (state,))
        keeps.append(cell.mixing_coefficients(gates)[0])
        candidates.append(gates["candidate"])
        state, _ = cell(x, (state,))
    weights = unrolled_weights(torch.stack(keeps))
    torch.testing.assert_close(
        weights.initial * initial + (weights.candidates * torch.stack(candidates)).sum(0),
        state,
        rtol=0,
        atol=1e-13,
    )


def test_a_gate_for_writing_of_its_own_gives_the_memory_of_an_lstm() -> None:
    keep, candidates, initial = random_case()
    write = torch.rand_like(keep)
    state = recurrence(keep, write, candidates, initial)[-1]
    weights = unrolled_weights(keep, write)
    torch.testing.assert_close(
        weights.initial * initial + (weights.candidates * candidates).sum(0), state, rtol=0, atol=1e-14
    )


def test_the_weights_of_all_states_are_those_of_each_prefix() -> None:
    keep, candidates, initial = random_case()
    write = torch.rand_like(keep)
    every = unrolled_weights_per_step(keep, write)
    for t, state in enumerate(recurrence(keep, write, candidates, initial)):
        prefix = unrolled_weights(keep[: t + 1], write[: t + 1])
        torch.testing.assert_close(every.initial[t], prefix.initial, rtol=0, atol=1e-15)
        torch.testing.assert_close(every.candidates[t, : t + 1], prefix.candidates, rtol=0, atol=1e-15)
        assert not every.candidates[t, t + 1 :].any()
        torch.testing.assert_close(
            every.initial[t] * initial + (every.candidates[t] * candidates).sum(0), state, rtol=0, atol=1e-14
        )


def test_long_sequences_and_closed_gates_stay_finite_with_their_gradients() -> None:
    keep = torch.full((5000,), 0.5)
    keep[4990] = 0.0
    keep.requires_grad_()
    weights = unrolled_weights(keep)
    assert weights.candidates[-1].item() == 0.5
    assert weights.candidates[4990].item() == pytest.approx(0.5**9)
    assert (weights.candidates[:4990] == 0).all()
    assert weights.candidates.sum().item() == pytest.approx(1.0)
    (gradient,) = torch.autograd.grad(weights.candidates[4989] + weights.initial, keep)
    assert gradient[4990].item() == pytest.approx(
        0.5 * 0.5**9
    )  # opening the gate would let the step before it through
    assert gradient.isfinite().all()
