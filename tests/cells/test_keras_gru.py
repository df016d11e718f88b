"""Keras's GRU layouts, against Keras's documented equations written out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from seqlab.cells.conversions.keras_gru import from_keras, to_keras
from seqlab.cells.gru import GRU
from seqlab.cells.reset_before_gru import ResetBeforeGRU
from seqlab.core.errors import UsageError
from tests.cells.fast_and_plain import with_drawn_weights

Array = NDArray[np.float64]
IN, UNITS = 3, 5


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def keras_layer(
    weights: list[Array], inputs: Array, h: Array, *, reset_after: bool, activation: str = "tanh"
) -> list[Array]:
    """The states of a Keras GRU, step by step: row vectors, gates z, r, h, biases of input and recurrent
    product in two rows.
    """
    kernel, recurrent, bias = [*weights, np.zeros((2, 3 * UNITS) if reset_after else 3 * UNITS)][:3]
    input_bias, recurrent_bias = bias if reset_after else (bias, np.zeros(3 * UNITS))
    z_, r_, h_ = (slice(gate * UNITS, (gate + 1) * UNITS) for gate in range(3))
    bend, states = {"tanh": np.tanh, "sigmoid": sigmoid}[activation], []
    for x in inputs:
        given = x @ kernel + input_bias
        z = sigmoid(given[:, z_] + h @ recurrent[:, z_] + recurrent_bias[z_])
        r = sigmoid(given[:, r_] + h @ recurrent[:, r_] + recurrent_bias[r_])
        inner = r * (h @ recurrent[:, h_] + recurrent_bias[h_]) if reset_after else (r * h) @ recurrent[:, h_]
        h = z * h + (1 - z) * bend(given[:, h_] + inner)
        states.append(h)
    return states


def keras_weights(*, reset_after: bool, bias: bool) -> list[Array]:
    random = np.random.default_rng(4)
    arrays = [random.normal(size=(IN, 3 * UNITS)), random.normal(size=(UNITS, 3 * UNITS))]
    return [*arrays, random.normal(size=(2, 3 * UNITS) if reset_after else 3 * UNITS)] if bias else arrays


def walk(cell: GRU | ResetBeforeGRU, inputs: Array, h: Array) -> list[Array]:
    state, states = torch.tensor(h), []
    for x in torch.tensor(inputs):
        state, _ = cell(x, (state,))
        states.append(state.detach().numpy())
    return states


INPUTS, FIRST = (
    np.random.default_rng(1).normal(size=(6, 2, IN)),
    np.random.default_rng(2).normal(size=(2, UNITS)),
)


@pytest.mark.spec(66, 68)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("reset_after", "activation"), [(True, "tanh"), (False, "tanh"), (False, "sigmoid")])
def test_a_keras_layer_comes_in_and_goes_out(reset_after: bool, activation: Any, bias: bool) -> None:
    weights = keras_weights(reset_after=reset_after, bias=bias)
    cell = from_keras(weights, reset_after=reset_after, activation=activation)
    assert isinstance(cell, GRU if reset_after else ResetBeforeGRU)
    expected = keras_layer(weights, INPUTS, FIRST, reset_after=reset_after, activation=activation)
    np.testing.assert_allclose(walk(cell, INPUTS, FIRST), expected, rtol=0, atol=1e-12)

    back = to_keras(cell)
    assert [array.shape for array in back] == [array.shape for array in weights]
    np.testing.assert_allclose(
        keras_layer(back, INPUTS, FIRST, reset_after=reset_after, activation=activation),
        expected,
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("keep", ["old", "new"])
@pytest.mark.parametrize("kind", [GRU, ResetBeforeGRU])
def test_a_cell_of_either_convention_goes_into_keras(kind: Any, keep: Any) -> None:
    cell: Any = with_drawn_weights(kind(IN, UNITS, keep=keep))
    found = keras_layer(to_keras(cell), INPUTS, FIRST, reset_after=kind is GRU)
    np.testing.assert_allclose(found, walk(cell, INPUTS, FIRST), rtol=0, atol=1e-12)


def test_the_arrays_are_copies() -> None:
    weights = keras_weights(reset_after=False, bias=True)
    cell = from_keras(weights, reset_after=False)
    to_keras(cell)[2][:] = 9
    weights[0][:] = 9
    assert cell.bias is not None
    assert (cell.bias != 9).all()
    assert (cell.input != 9).all()


def test_a_bias_of_the_other_form_is_refused() -> None:
    with pytest.raises(
        UsageError,
        match=(
            r"from_keras: the bias has shape \(15,\), .*reset_after=True with 5 units needs \(2, 15\)"
            r".\n.*reset_after=False"
        ),
    ):
        from_keras(keras_weights(reset_after=False, bias=True))
    with pytest.raises(UsageError, match=r"the bias has shape \(2, 15\), .*reset_after=False"):
        from_keras(keras_weights(reset_after=True, bias=True), reset_after=False)


@pytest.mark.parametrize(
    "weights",
    [
        [np.zeros((3, 15)), np.zeros((15, 5))],
        [np.zeros((3, 12)), np.zeros((5, 15))],
        [np.zeros(3), np.zeros(15)],
    ],
)
def test_kernels_that_do_not_fit_are_refused(weights: list[Array]) -> None:
    with pytest.raises(
        UsageError, match=r"the kernels have shapes .*\n  A Keras GRU has a kernel \(input, 3 \* units\)"
    ):
        from_keras(weights)


def test_one_array_is_refused() -> None:
    with pytest.raises(UsageError, match="got 1"):
        from_keras([np.zeros((3, 15))])


def test_what_the_other_side_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match=r"activation is 'sigmoid', .*tanh"):
        from_keras(keras_weights(reset_after=True, bias=True), activation="sigmoid")
    with pytest.raises(UsageError, match=r"to_keras: the candidate's bias.*\n.*Keras"):
        to_keras(ResetBeforeGRU(IN, UNITS, candidate_bias="outside"))
