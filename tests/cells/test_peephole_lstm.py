"""The peephole LSTM: its equations by hand for every choice, its size, and the fast scans beside the plain
one.
"""

from __future__ import annotations

from itertools import combinations
from math import tanh
from typing import Any, Literal

import pytest
import torch

from seqlab.cells.lstm import LSTM
from seqlab.cells.peephole_lstm import GATES, PeepholeLSTM
from seqlab.core.errors import UsageError
from tests.cells.fast_and_plain import assert_fast_equals_plain, drawn, with_drawn_weights
from tests.cells.lstm_family import (
    after_one_step,
    assert_step_and_scan_have_right_gradients,
    num_parameters,
    sigmoid,
)

Peepholes = Literal["diagonal", "full"]
Sees = Literal["previous", "new"]
SUBSETS = [subset for size in (1, 2, 3) for subset in combinations(GATES, size)]
every_subset = pytest.mark.parametrize("gates", SUBSETS, ids="+".join)
every_kind = pytest.mark.parametrize("peepholes", ["diagonal", "full"])
every_sight = pytest.mark.parametrize("output_gate_sees", ["previous", "new"])


@pytest.mark.spec(63)
@every_sight
@every_kind
@every_subset
def test_one_step_follows_the_equations(
    gates: tuple[Any, ...], peepholes: Peepholes, output_gate_sees: Sees
) -> None:
    cell = PeepholeLSTM(1, 1, peepholes=peepholes, gates=gates, output_gate_sees=output_gate_sees)
    sight = {"input": 0.15, "forget": -0.25, "output": 0.35}
    cell.load_state_dict({
        "input": torch.tensor([[0.1], [0.3], [-0.5], [0.4]]),
        "recurrent": torch.tensor([[0.2], [-0.4], [0.6], [-0.3]]),
        "bias": torch.tensor([0.7, -0.8, 0.9, 0.5]),
        "peephole": torch.tensor([[sight[gate]] for gate in gates]),
    })  # fmt: skip
    sight = {gate: value if gate in gates else 0.0 for gate, value in sight.items()}
    x, hidden, cell_state = 2.0, -1.0, 3.0
    input_gate = sigmoid(0.1 * x + 0.2 * hidden + sight["input"] * cell_state + 0.7)
    forget_gate = sigmoid(0.3 * x - 0.4 * hidden + sight["forget"] * cell_state - 0.8)
    new_memory = forget_gate * cell_state + input_gate * tanh(-0.5 * x + 0.6 * hidden + 0.9)
    seen = new_memory if output_gate_sees == "new" else cell_state
    output_gate = sigmoid(0.4 * x - 0.3 * hidden + sight["output"] * seen + 0.5)
    assert after_one_step(cell, x, hidden, cell_state) == pytest.approx(
        (output_gate * tanh(new_memory), new_memory)
    )


@pytest.mark.spec(63)
def test_a_full_matrix_looks_at_all_memory_cells_and_a_diagonal_at_its_own() -> None:
    full, diagonal = (with_drawn_weights(PeepholeLSTM(3, 5, peepholes=kind)) for kind in ("full", "diagonal"))
    projected, hidden, cell_state = drawn(2, 20), drawn(2, 5, seed=1), drawn(2, 5, seed=2)
    moved = cell_state.clone()
    moved[:, 3] += 1
    for cell, reached in ((full, [True] * 5), (diagonal, [False, False, False, True, False])):
        before, after = (cell.gates(projected, (hidden, seen)) for seen in (cell_state, moved))
        for gate in ("input", "forget", "output"):
            assert (before[gate] != after[gate]).any(dim=0).tolist() == reached
        assert torch.equal(before["candidate"], after["candidate"])


@pytest.mark.spec(63)
def test_a_full_matrix_with_only_a_diagonal_is_the_diagonal_form() -> None:
    diagonal, full = PeepholeLSTM(3, 5).double(), PeepholeLSTM(3, 5, peepholes="full").double()
    weights = with_drawn_weights(diagonal).state_dict()
    full.load_state_dict({**weights, "peephole": torch.cat([torch.diag(row) for row in weights["peephole"]])})
    inputs, state = drawn(2, 3), (drawn(2, 5, seed=1), drawn(2, 5, seed=2))
    torch.testing.assert_close(full(inputs, state), diagonal(inputs, state), rtol=0, atol=1e-14)


@pytest.mark.spec(63)
def test_the_sizes_are_the_lectures() -> None:
    assert num_parameters(PeepholeLSTM(10, 20, peepholes="full")) == 2_480 + 3 * 20 * 20 == 3_680
    assert num_parameters(PeepholeLSTM(10, 20)) == 2_480 + 3 * 20 == 2_540
    assert num_parameters(PeepholeLSTM(10, 20, gates=("forget",))) == 2_500
    assert num_parameters(PeepholeLSTM(10, 20, gates=("output", "input"), peepholes="full")) == 2_480 + 800


@every_sight
@every_kind
@every_subset
def test_the_fast_scan_equals_the_plain_one(
    gates: tuple[Any, ...], peepholes: Peepholes, output_gate_sees: Sees
) -> None:
    assert_fast_equals_plain(
        PeepholeLSTM(
            3, 4, peepholes=peepholes, gates=gates, output_gate_sees=output_gate_sees, bias=len(gates) != 2
        )
    )


@pytest.mark.parametrize(
    ("peepholes", "output_gate_sees"), [("diagonal", "previous"), ("diagonal", "new"), ("full", "previous")]
)
def test_gradients_are_right(peepholes: Peepholes, output_gate_sees: Sees) -> None:
    assert_step_and_scan_have_right_gradients(
        PeepholeLSTM(2, 3, peepholes=peepholes, output_gate_sees=output_gate_sees)
    )


def test_blind_peepholes_are_the_lstm() -> None:
    cell, plain = PeepholeLSTM(3, 5), LSTM(3, 5)
    with torch.no_grad():
        cell.peephole.zero_()
    plain.load_state_dict({name: value for name, value in cell.state_dict().items() if name != "peephole"})
    inputs = torch.randn(2, 3)
    assert torch.equal(cell(inputs)[0], plain(inputs)[0])


def test_the_order_in_which_gates_are_named_does_not_matter() -> None:
    one, other = PeepholeLSTM(3, 5, gates=("output", "input")), PeepholeLSTM(3, 5, gates=("input", "output"))
    other.load_state_dict(one.state_dict())
    inputs, state = torch.randn(2, 3), (torch.randn(2, 5), torch.randn(2, 5))
    assert torch.equal(one(inputs, state)[0], other(inputs, state)[0])
    assert "gates=(input, output)" in repr(one)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gates": ("forgot",)}, ["no gate 'forgot'", "Did you mean 'forget'?"]),
        ({"gates": ()}, ["gates: nothing;", "at least one gate", "lstm"]),
        ({"gates": ("input", "input")}, ["gates: input, input;", "only once", "input, forget, output"]),
        ({"peepholes": "ful"}, ["peepholes is 'ful'", "'diagonal' or 'full'"]),
        ({"output_gate_sees": "old"}, ["output_gate_sees is 'old'", "'previous' or 'new'"]),
    ],
)
def test_impossible_choices_are_refused(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        PeepholeLSTM(2, 3, **options)
    for word in words:
        assert word in str(caught.value)
