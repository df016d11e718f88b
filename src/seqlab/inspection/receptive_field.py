"""The receptive field: which inputs affect an output, measured with gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.blocks.recurrent import RecurrentStack
from seqlab.blocks.recurrent_layer import RecurrentLayer
from seqlab.cells.base import Cell
from seqlab.core.errors import UsageError
from seqlab.inspection.layer_directions import Scannable
from seqlab.inspection.step_order import Array, to_numpy
from seqlab.inspection.table_display import TableDisplay
from seqlab.inspection.unroll import unroll

SequenceFunction = Callable[[Tensor], Tensor]
"""(batch, time, features) -> (batch, time, features), each sequence by itself."""


@dataclass(frozen=True)
class ReceptiveField(TableDisplay):
    """‖∂output_t/∂input_s‖ (Frobenius) for every output t (row) and input s (column)."""

    norms: Float[Array, "batch target source"]

    @property
    def mean(self) -> Float[Array, "target source"]:
        return self.norms.mean(axis=0)

    @property
    def depends(self) -> Bool[Array, "target source"]:
        """Whether any sequence's output t depends on its input s at all.

        Without a path from s to t the gradient is exactly 0.
        """
        return self.norms.max(axis=0) > 0

    @property
    def widths(self) -> list[int]:
        """The number of inputs that each output depends on."""
        return self.depends.sum(axis=1).tolist()

    def table(self) -> list[dict[str, float]]:
        """One row per output: how many inputs it depends on, the first and the last of them, and the strongest. An
        output that depends on nothing has NaN.
        """
        rows = []
        for output, (depends, norms) in enumerate(zip(self.depends, self.mean, strict=True)):
            inputs = np.flatnonzero(depends)
            places = (inputs[0], inputs[-1], norms.argmax()) if len(inputs) else (np.nan,) * 3
            first, last, strongest = map(float, places)
            rows.append(
                {
                    "output": output,
                    "inputs": len(inputs),
                    "first": first,
                    "last": last,
                    "strongest": strongest,
                    "norm": float(norms.max()),
                }
            )
        return rows


def receptive_field(
    network: Scannable | SequenceFunction,
    steps: Float[Tensor, "batch time input"],
    *,
    num_probes: int = 0,
    seed: int = 0,
) -> ReceptiveField:
    """Measure the receptive field: lower triangular for a forward or causal network, full for a bidirectional
    one.

    network: a recurrent layer of any kind, or any function (batch, time, features) -> (batch, time,
        features).
    num_probes: 0 is exact and takes time * features backward passes. A positive n estimates the norms from n
        random directions of the output (unbiased for their squares); inputs without effect still give
        exactly 0.
    """
    inputs = steps.detach().clone().requires_grad_()
    with torch.enable_grad():
        outputs = _outputs(network, inputs)
    if outputs.dim() != 3 or outputs.shape[:2] != steps.shape[:2]:
        raise UsageError(
            f"the network maps {tuple(steps.shape)} to {tuple(outputs.shape)}; the receptive field needs"
            " one output per step."
        )
    directions = _directions(outputs, num_probes, seed)  # (num, features)
    rows = [_row(outputs[:, time], inputs, directions) for time in range(outputs.shape[1])]
    return ReceptiveField(np.stack(rows, axis=1))


def _outputs(network: Scannable | SequenceFunction, inputs: Tensor) -> Tensor:
    if isinstance(network, RecurrentStack | RecurrentLayer | Cell | nn.RNNBase | nn.RNNCellBase):
        return unroll(network, inputs).outputs
    outputs = network(inputs)
    return outputs[0] if isinstance(outputs, tuple) else outputs  # a layer may also return its state


def _directions(outputs: Tensor, num_probes: int, seed: int) -> Float[Tensor, "num features"]:
    size = outputs.shape[2]
    if num_probes == 0:
        return torch.eye(size, dtype=outputs.dtype, device=outputs.device)
    drawn = torch.randn(num_probes, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (drawn / num_probes**0.5).to(outputs)


def _row(
    output: Float[Tensor, "batch features"], inputs: Tensor, directions: Float[Tensor, "num features"]
) -> Float[Array, "batch source"]:
    """‖J‖² = Σ ‖vᵀJ‖² over the directions v."""
    squares = np.zeros(inputs.shape[:2])
    for direction in directions:
        (gradient,) = torch.autograd.grad(
            (output @ direction).sum(), inputs, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        squares += (to_numpy(gradient) ** 2).sum(axis=-1)
    return np.sqrt(squares)
