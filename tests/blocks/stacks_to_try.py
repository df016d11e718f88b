"""Small stacks and ragged sequences with large nonsense in their padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from seqlab.blocks.recurrent import RecurrentStack, build_stack
from seqlab.cells.base import cells

CELLS = ["rnn", "lstm", "gru"]
LENGTHS = [3, 7, 1, 5]  # not sorted
IN, HIDDEN = 4, 5


def build(cell: str, *, sizes: Sequence[int] = (HIDDEN, HIDDEN), **options: Any) -> RecurrentStack:
    torch.manual_seed(9)
    stack = build_stack(IN, cells.get(cell), sizes, **options).double()
    for parameter in stack.parameters():  # none may hide behind a zero
        with torch.no_grad():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return stack


def ragged(lengths: list[int] = LENGTHS, *, seed: int = 2) -> tuple[Tensor, Tensor]:
    steps = torch.randn(
        len(lengths), max(lengths), IN, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    is_token = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return steps.masked_fill(~is_token.unsqueeze(-1), 1e3), is_token


def torch_layers(cell: str, stack: RecurrentStack, *, bidirectional: bool = False) -> nn.RNNBase:
    """torch's own layers with the same weights; one of torch's two biases is zero."""
    kind = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[cell]
    layers = kind(IN, HIDDEN, len(stack.layers), batch_first=True, bidirectional=bidirectional).double()
    weights: dict[str, Tensor] = {}
    for depth, layer in enumerate(stack.layers):
        for direction, suffix in (
            [(layer.onward, ""), (layer.backward, "_reverse")] if bidirectional else [(layer, "")]
        ):
            weights |= {
                f"{name}_l{depth}{suffix}": value for name, value in _torch_names(direction.cell).items()
            }
    layers.load_state_dict(weights)
    return layers


def _torch_names(cell: nn.Module) -> dict[str, Tensor]:
    own = dict(cell.state_dict())
    hidden_bias = own.get("recurrent_bias")
    below = torch.zeros_like(own["bias"])
    if hidden_bias is not None:
        below[len(below) - len(hidden_bias) :] = hidden_bias
    return {
        "weight_ih": own["input"],
        "weight_hh": own["recurrent"],
        "bias_ih": own["bias"],
        "bias_hh": below,
    }
