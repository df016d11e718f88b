"""Long short-term memory: a memory that is kept, written and shown through three gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.cells.activations import find_activation
from seqlab.cells.base import GatedCell, State, cells
from seqlab.cells.fast.apply import applied
from seqlab.cells.fast.lstm import LSTMWalk, fused_walk, held_walk
from seqlab.cells.forget_bias import open_forget_gate
from seqlab.cells.native.library import native
from seqlab.cells.native.scan import MemoryWalk
from seqlab.cells.options import chosen
from seqlab.cells.step_layout import Path

MOSTLY = 0.85
"""Share of real steps in the padded batch from which on torch's layer, padding and all, is faster than the walk by hand over the real ones."""


@cells.register("lstm")
class LSTM(GatedCell):
    """One step of an LSTM. Gates stand in torch's order: input, forget, candidate, expose.

        write     = σ(W_i x + U_i h + b_i)
        forget    = σ(W_f x + U_f h + b_f)
        candidate = tanh(W_c x + U_c h + b_c)
        expose    = σ(W_o x + U_o h + b_o)
        memory'   = forget ⊙ memory + write ⊙ candidate
        hidden'   = expose ⊙ tanh(memory')

    Some books write s for the memory, g for the forget gate and q for the exposing gate (Goodfellow et al. 2016, section 10.10.1).
    Papers: Hochreiter & Schmidhuber 1997; forget gate: Gers et al. 2000; a forget bias of 1 remembers from the start: Jozefowicz et al. 2015.

    candidate: the activation of the candidate; some lectures print σ.
    """

    num_gates = 4
    num_parts = 2

    def __init__(
        self, input_size: int, hidden_size: int, *, bias: bool = True, forget_bias: float = 1.0, candidate: Literal["tanh", "sigmoid"] = "tanh"
    ) -> None:
        self.forget_bias = forget_bias
        super().__init__(input_size, hidden_size, bias=bias)
        self.candidate = chosen("candidate", candidate, ("tanh", "sigmoid"))

    def reset_parameters(self) -> None:
        super().reset_parameters()
        open_forget_gate(self.bias, gate=1, size=self.hidden_size, value=self.forget_bias)

    def gates(self, projected: Float[Tensor, "batch gates"], state: State) -> dict[str, Float[Tensor, "batch hidden"]]:
        write, forget, candidate, expose = (projected + state[0] @ self.recurrent.T).chunk(4, dim=-1)
        return {
            "write": torch.sigmoid(write),
            "forget": torch.sigmoid(forget),
            "candidate": find_activation(self.candidate).function(candidate),
            "expose": torch.sigmoid(expose),
        }

    def mixing(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return gates["forget"], gates["write"]

    def step(self, projected: Float[Tensor, "batch gates"], state: State) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        memory = gates["forget"] * state[1] + gates["write"] * gates["candidate"]
        hidden = gates["expose"] * torch.tanh(memory)
        return hidden, (hidden, memory)

    def fast_walk(self, rows: Float[Tensor, "rows input"], state: State, path: Path) -> tuple[Float[Tensor, "rows hidden"], State] | None:
        weights = (self.input, self.recurrent, self.bias)
        suits_torch = self.candidate == "tanh" and rows.device.type == "cpu"
        if self.candidate == "tanh" and native(rows) is not None and not (suits_torch and path.is_full and _has_few(path, self.hidden_size)):
            hidden, *last = applied(MemoryWalk, rows, *weights, *state, None, path, "lstm")
        elif suits_torch and path.is_full:
            hidden, *last = fused_walk(rows, weights, state, path)
        elif suits_torch and path.filled >= MOSTLY:
            hidden, *last = held_walk(rows, weights, state, path)
        else:
            hidden, *last = applied(LSTMWalk, rows, *weights, *state, path, self.candidate == "sigmoid")
        return hidden, tuple(last)


def _has_few(path: Path, hidden_size: int) -> bool:
    """So few sequences for so large a matrix that torch's layer, which keeps the matrix in a special order, is faster than the kernel."""
    return path.num_sequences < max(32, hidden_size // 8)
