"""A recurrent cell walked through time, over real steps only."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CellName = Literal["rnn", "lstm", "gru"]
State = tuple[Tensor, ...]
_LAYERS: dict[str, type[nn.RNN] | type[nn.LSTM] | type[nn.GRU]] = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


class RecurrentStack(nn.Module):
    """Layers of one cell, each reading the layer below; in both directions when asked.

    Sequences of different lengths are packed, so that no padding is ever walked through and the backward direction
    starts at each sequence's own last step. States are (batch, layers * directions, hidden).
    """

    def __init__(self, input_size: int, *, cell: CellName, hidden_size: int, num_layers: int, bidirectional: bool, dropout: float) -> None:
        super().__init__()
        between = dropout if num_layers > 1 else 0.0  # torch warns about dropout between layers that do not exist
        self.layers = _LAYERS[cell](input_size, hidden_size, num_layers, batch_first=True, bidirectional=bidirectional, dropout=between)
        self.output_size = hidden_size * (2 if bidirectional else 1)
        if cell == "lstm":
            self._open_forget_gates(hidden_size)

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], is_token: Bool[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time output"], State]:
        given = None if state is None else _to_torch(state)
        if bool(is_token.all()):
            outputs, last = self.layers(steps, given)
        else:
            lengths = is_token.sum(dim=1).cpu()
            packed = pack_padded_sequence(steps, lengths, batch_first=True, enforce_sorted=False)
            packed_outputs, last = self.layers(packed, given)
            outputs, _ = pad_packed_sequence(packed_outputs, batch_first=True, total_length=steps.shape[1])
        return outputs, _from_torch(last)

    def _open_forget_gates(self, hidden_size: int) -> None:
        """A forget gate that starts open remembers.  Paper: Jozefowicz et al. 2015, "An Empirical Exploration of Recurrent Network Architectures"."""
        for name, bias in self.layers.named_parameters():
            if name.startswith("bias_ih"):  # torch keeps a second bias per gate; one is enough to open it
                with torch.no_grad():
                    bias[hidden_size : 2 * hidden_size] = 1.0


def _to_torch(state: State) -> Tensor | tuple[Tensor, Tensor]:
    """Batch first -> torch's layers first; one tensor for rnn and gru, a pair for lstm."""
    parts = [part.transpose(0, 1).contiguous() for part in state]
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def _from_torch(state: Tensor | tuple[Tensor, Tensor]) -> State:
    parts = (state,) if isinstance(state, Tensor) else state
    return tuple(part.transpose(0, 1) for part in parts)
