"""Small instances of every cell: the promises of the room are tried on each line.

A new cell adds its lines here.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.base import Cell, State, cells
from seqlab.cells.step_layout import Packing, StepLayout

INPUT, HIDDEN = 3, 4
LENGTHS = [3, 5, 1, 4]  # not sorted

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "rnn": [
        {},
        {"activation": "relu"},
        {"activation": "sigmoid", "bias": False},
        {"activation": "identity"},
        {"activation": torch.sin},
    ],
    "lstm": [{}, {"bias": False}, {"candidate": "sigmoid"}],
    "peephole_lstm": [
        {},
        {"bias": False, "gates": ("forget",)},
        {"peepholes": "full"},
        {"output_gate_sees": "new"},
        {"peepholes": "full", "output_gate_sees": "new", "gates": ("input", "output")},
    ],
    "coupled_lstm": [{}, {"bias": False}],
    "layer_norm_lstm": [{}, {"bias": False}],
    "projected_lstm": [{"proj_size": 2}, {"proj_size": 3, "bias": False}],
    "gru": [{}, {"bias": False}, {"keep": "new"}],
    "reset_before_gru": [
        {},
        {"bias": False, "keep": "new"},
        {"candidate": "sigmoid"},
        {"candidate_bias": "outside"},
    ],
    "single_gate": [{}, {"bias": False}, {"keep": "old"}],
    "additive": [
        {},
        {"candidate": "input", "bias": False},
        {"candidate": "linear", "keep": "new"},
        {"candidate": torch.maximum},
    ],
    "orthogonal_rnn": [
        {},
        {"activation": "tanh", "radius": 0.25},
        {"activation": "relu", "bias": False},
        {"radius": 0.1},
    ],
    "min_gru": [{}, {"bias": False}],
}

CASES = [(name, options) for name in cells.names() for options in OPTIONS.get(name, [])]
CASE_NAMES = [
    " ".join([name, *(f"{key}={getattr(value, '__name__', value)}" for key, value in options.items())])
    for name, options in CASES
]


def build(name: str, options: dict[str, Any], *, dtype: torch.dtype = torch.float64) -> Cell:
    """A cell none of whose weights is at a special place such as zero."""
    cell = cells.get(name)(INPUT, HIDDEN, **options).to(dtype)
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=generator, dtype=dtype) - 0.4)
    return cell


def ragged(
    cell: Cell, lengths: list[int] = LENGTHS, *, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, State]:
    """Padded inputs (batch, time, input), with numbers in the padding that would be seen, and an initial
    state.
    """
    generator = torch.Generator().manual_seed(3)
    steps = torch.randn(len(lengths), max(lengths), INPUT, generator=generator, dtype=dtype)
    is_token = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    state = tuple(
        torch.randn(len(lengths), size, generator=generator, dtype=dtype) for size in cell.state_sizes
    )
    return steps.masked_fill(~is_token.unsqueeze(-1), 1e3), state


def path_of(lengths: list[int], *, reverse: bool) -> tuple[Packing, StepLayout]:
    packing = Packing.from_lengths(torch.tensor(lengths), time=max(lengths))
    return packing, packing.layout(reverse=reverse)


def alone(cell: Cell, steps: Tensor, state: State, *, reverse: bool) -> tuple[Tensor, State]:
    """One sequence (time, input) by itself, one raw step after the other: outputs (time, hidden) in the order
    of time, and the last state.
    """
    outputs: list[Tensor] = []
    for x in steps.flip(0) if reverse else steps:
        hidden, state = cell(x.unsqueeze(0), state)
        outputs.append(hidden[0])
    return torch.stack(outputs[::-1] if reverse else outputs), state
