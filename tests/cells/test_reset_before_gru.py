"""The original GRU: its equations as the lectures print them, and the fast scan beside the plain one."""

from __future__ import annotations

from itertools import product
from math import exp, tanh
from typing import Any

import numpy as np
import pytest
import torch

from seqlab.blocks.scan import scan
from seqlab.cells.reset_before_gru import ResetBeforeGRU
from seqlab.cells.step_layout import Packing
from seqlab.core.errors import UsageError
from tests.cells.fast_and_plain import (
    assert_fast_equals_plain,
    assert_gradients_are_right,
    drawn,
    with_drawn_weights,
)

OPTIONS: list[dict[str, Any]] = [
    {"keep": keep, "candidate": candidate, "candidate_bias": place}
    for keep, candidate, place in product(("old", "new"), ("tanh", "sigmoid"), ("inside", "outside"))
]
all_options = pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options.values()))


def sigmoid(value: float) -> float:
    return 1 / (1 + exp(-value))


@pytest.mark.spec(65, 66)
@all_options
def test_one_step_follows_the_equations(options: dict[str, Any]) -> None:
    """Two units, since with one it does not matter on which side of the product the reset gate stands."""
    cell = ResetBeforeGRU(1, 2, **options)
    cell.load_state_dict(
        {
            "input": torch.tensor([[0.1], [0.2], [0.3], [0.4], [-0.5], [0.6]]),
            "recurrent": torch.tensor(
                [[0.2, -0.1], [0.5, 0.3], [-0.4, 0.7], [0.1, -0.2], [0.6, 0.9], [-0.8, 0.4]]
            ),
            "bias": torch.tensor([0.7, -0.6, -0.8, 0.5, 0.9, -0.3]),
        }
    )
    x, (h, k) = 2.0, (-1.0, 0.5)
    resets = sigmoid(0.1 * x + 0.2 * h - 0.1 * k + 0.7), sigmoid(0.2 * x + 0.5 * h + 0.3 * k - 0.6)
    updates = sigmoid(0.3 * x - 0.4 * h + 0.7 * k - 0.8), sigmoid(0.4 * x + 0.1 * h - 0.2 * k + 0.5)
    sums = (
        -0.5 * x + 0.6 * resets[0] * h + 0.9 * resets[1] * k,
        0.6 * x - 0.8 * resets[0] * h + 0.4 * resets[1] * k,
    )
    bend = tanh if options["candidate"] == "tanh" else sigmoid
    inside, outside = (bend(sums[0] + 0.9), bend(sums[1] - 0.3)), (bend(sums[0]) + 0.9, bend(sums[1]) - 0.3)
    candidates = inside if options["candidate_bias"] == "inside" else outside
    kept = updates if options["keep"] == "old" else (1 - updates[0], 1 - updates[1])
    expected = [kept[0] * h + (1 - kept[0]) * candidates[0], kept[1] * k + (1 - kept[1]) * candidates[1]]
    output, _ = cell(torch.tensor([[x]]), (torch.tensor([[h, k]]),))
    assert output[0].tolist() == pytest.approx(expected)


@pytest.mark.spec(66)
@pytest.mark.parametrize("place", ["inside", "outside"])
def test_a_scan_equals_the_lectures_row_vectors(place: Any) -> None:
    """Z = σ(X W_xz + H W_hz + b_z), and so on: matrices stand on the right, a sequence is a row."""
    cell = with_drawn_weights(ResetBeforeGRU(3, 5, candidate_bias=place))
    steps, state = drawn(4, 2, 3), drawn(2, 5, seed=1).numpy()
    with torch.no_grad():
        outputs, _ = scan(
            cell,
            steps.flatten(0, 1),
            (torch.tensor(state),),
            Packing.from_lengths(torch.tensor([4, 4]), time=4).layout(),
        )
        w_xr, w_xz, w_xh = (part.T.numpy() for part in cell.input.split(5))
        w_hr, w_hz, w_hh = (part.T.numpy() for part in cell.recurrent.split(5))
        b_r, b_z, b_h = (part.numpy() for part in cell.get_parameter("bias").split(5))
    for x, found in zip(steps.numpy(), outputs.view(4, 2, 5), strict=True):
        reset, update = (
            1 / (1 + np.exp(-(x @ w_xr + state @ w_hr + b_r))),
            1 / (1 + np.exp(-(x @ w_xz + state @ w_hz + b_z))),
        )
        inner = x @ w_xh + (reset * state) @ w_hh
        state = update * state + (1 - update) * (
            np.tanh(inner + b_h) if place == "inside" else np.tanh(inner) + b_h
        )
        np.testing.assert_allclose(found.numpy(), state, rtol=0, atol=1e-12)


@all_options
def test_the_fast_scan_equals_the_plain_one(options: dict[str, Any]) -> None:
    assert_fast_equals_plain(ResetBeforeGRU(3, 5, **options))


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_without_biases_there_is_nothing_to_place(place: Any) -> None:
    cell = ResetBeforeGRU(3, 5, bias=False, candidate_bias=place)
    assert [name for name, _ in cell.named_parameters()] == ["input", "recurrent"]
    assert_fast_equals_plain(cell)


@pytest.mark.parametrize(
    "options", [{}, {"keep": "new", "candidate": "sigmoid", "candidate_bias": "outside"}], ids=str
)
def test_gradients_are_right(options: dict[str, Any]) -> None:
    assert_gradients_are_right(ResetBeforeGRU(2, 3, **options))


@pytest.mark.spec(65)
def test_a_sigma_candidate_keeps_the_state_between_zero_and_one() -> None:
    layout = Packing.from_lengths(torch.tensor([40]), time=40).layout()
    ranges = {}
    for candidate in ("tanh", "sigmoid"):
        cell = with_drawn_weights(ResetBeforeGRU(3, 5, candidate=candidate))
        outputs, _ = scan(cell, drawn(40, 3), cell.zero_state(drawn(1, 3)), layout)
        ranges[candidate] = outputs.min().item(), outputs.max().item()
    assert 0 < ranges["sigmoid"][0] < ranges["sigmoid"][1] < 1
    assert -1 < ranges["tanh"][0] < 0 < ranges["tanh"][1] < 1


def test_its_size_is_that_of_three_gates_with_one_bias_each() -> None:
    assert (
        sum(parameter.numel() for parameter in ResetBeforeGRU(10, 20).parameters())
        == 3 * (10 * 20 + 20 * 20 + 20)
        == 1_860
    )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("candidate", "'tanh' or 'sigmoid'"),
        ("candidate_bias", "'inside' or 'outside'"),
        ("keep", "'old' or 'new'"),
    ],
)
def test_words_that_an_option_does_not_know_are_refused(option: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"{option} is 'tan'.\n  .*{words}."):
        ResetBeforeGRU(2, 3, **{option: "tan"})
