"""Convert GRU weights from and to Keras: the arrays of layer.get_weights().

Keras multiplies from the right, so its matrices are the transposes of ours; its gate order is update, reset,
candidate; its update gate keeps the old state. A layer with reset_after=True (the default) is our gru and has
two biases for each gate, as torch has; one with reset_after=False is our reset_before_gru. Source: the
documentation of keras.layers.GRU and GRUCell, Keras 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqlab.cells.conversions.gru import build_cell, gru_from_torch, gru_to_torch, with_keep
from seqlab.cells.gru import GRU
from seqlab.cells.reset_before_gru import ResetBeforeGRU
from seqlab.core.errors import UsageError

Arrays = Sequence[NDArray[np.floating[Any]]]
SHAPES = (
    "A Keras GRU has a kernel (input, 3 * units), a recurrent_kernel (units, 3 * units) and, unless"
    " use_bias=False, a bias."
)


def from_keras(
    weights: Arrays, *, reset_after: bool = True, activation: Literal["tanh", "sigmoid"] = "tanh"
) -> GRU | ResetBeforeGRU:
    """The cell of a Keras layer, from its get_weights() and the two arguments that do not show in the
    weights.
    """
    _check(weights, reset_after=reset_after)
    kernel, recurrent_kernel, *rest = (
        _swapped(torch.from_numpy(np.array(array)).movedim(-1, 0)) for array in weights
    )
    if not reset_after:
        parameters = {"input": kernel, "recurrent": recurrent_kernel} | ({"bias": rest[0]} if rest else {})
        return build_cell(ResetBeforeGRU, parameters, candidate=activation)
    if activation != "tanh":
        raise UsageError(
            f"activation is '{activation}', but seqlab's gru uses tanh for the candidate.",
            where="from_keras",
            cure="Sigmoid is supported only with reset_after=False.",
        )
    named = {"weight_ih": kernel, "weight_hh": recurrent_kernel}
    if rest:
        named |= {"bias_ih": rest[0][:, 0], "bias_hh": rest[0][:, 1]}
    return gru_from_torch(named, suffix="")


def to_keras(cell: GRU | ResetBeforeGRU) -> list[NDArray[np.floating[Any]]]:
    """The arrays for layer.set_weights. Build the layer with reset_after=True for a gru, with
    reset_after=False for a reset_before_gru (and with activation="sigmoid" if the cell's candidate is
    sigmoid).
    """
    if isinstance(cell, GRU):
        named = gru_to_torch(cell, suffix="")
        parts = [named["weight_ih"], named["weight_hh"]]
        if cell.bias is not None:
            parts.append(torch.stack([named["bias_ih"], named["bias_hh"]], dim=1))
    else:
        old = with_keep(cell, "old")
        parts = [part.detach() for part in (old.input, old.recurrent, old.bias) if part is not None]
        if (
            cell.candidate_bias == "outside"
            and old.bias is not None
            and bool(old.bias[2 * cell.hidden_size :].any())
        ):
            raise UsageError(
                "the candidate's bias is added after its activation.",
                where="to_keras",
                cure="Keras supports a bias before the activation only.",
            )
    return [_swapped(part).movedim(0, -1).contiguous().cpu().numpy() for part in parts]


def _swapped(rows: Tensor) -> Tensor:
    """Swap the first two of three groups of gate rows: converts our order to Keras's and back."""
    first, second, third = rows.chunk(3)
    return torch.cat([second, first, third])


def _check(weights: Arrays, *, reset_after: bool) -> None:
    shapes = [np.shape(array) for array in weights]
    if len(shapes) not in (2, 3):
        raise UsageError(f"expected two or three arrays, got {len(shapes)}.", where="from_keras", cure=SHAPES)
    units = shapes[1][0] if len(shapes[1]) == 2 else 0
    if len(shapes[0]) != 2 or shapes[0][1] != 3 * units or shapes[1] != (units, 3 * units):
        raise UsageError(
            f"the kernels have shapes {shapes[0]} and {shapes[1]}.", where="from_keras", cure=SHAPES
        )
    expected = (2, 3 * units) if reset_after else (3 * units,)
    if len(shapes) == 3 and shapes[2] != expected:
        raise UsageError(
            f"the bias has shape {shapes[2]}, but reset_after={reset_after} with {units} units needs"
            f" {expected}.",
            where="from_keras",
            cure=(
                "reset_after=True has a bias of shape (2, 3 * units), reset_after=False one of shape (3"
                " * units,)."
            ),
        )
