"""An LSTM whose gates also see the memory, not only what was shown of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.cells.base import GatedCell, State, cells
from seqlab.cells.fast.apply import applied
from seqlab.cells.fast.full_peephole_lstm import FullPeepholeLSTMWalk
from seqlab.cells.fast.peephole_lstm import PeepholeLSTMWalk
from seqlab.cells.forget_bias import open_forget_gate
from seqlab.cells.native.library import native
from seqlab.cells.native.scan import MemoryWalk
from seqlab.cells.options import chosen
from seqlab.cells.step_layout import Path
from seqlab.core.errors import UsageError, listed, nearest

Gate = Literal["write", "forget", "expose"]
GATES: tuple[Gate, ...] = ("write", "forget", "expose")
"""The gates that may see the memory, in the order of their rows in `peephole`."""


@cells.register("peephole_lstm")
class PeepholeLSTM(GatedCell):
    """One step of a peephole LSTM. Gates stand in torch's order: write, forget, candidate, expose.

        write     = σ(W_i x + U_i h + P_i memory + b_i)
        forget    = σ(W_f x + U_f h + P_f memory + b_f)
        candidate = tanh(W_c x + U_c h + b_c)
        expose    = σ(W_o x + U_o h + P_o memory + b_o)
        memory'   = forget ⊙ memory + write ⊙ candidate
        hidden'   = expose ⊙ tanh(memory')

    `peephole` holds P for the gates that peep, in the order write, forget, expose: a row (hidden) of the diagonal for each, or a full matrix
    (hidden, hidden) below the other. As first published, P is diagonal and the exposing gate sees memory' (`expose_sees="new"`).
    Papers: Gers & Schmidhuber 2000, "Recurrent nets that time and count"; Gers et al. 2002 (JMLR 3, pages 115-143).

    gates: the gates that see the memory.
    expose_sees: the memory that the exposing gate sees, "previous" (memory) or "new" (memory').
    """

    num_gates = 4
    num_parts = 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        bias: bool = True,
        forget_bias: float = 1.0,
        peepholes: Literal["diagonal", "full"] = "diagonal",
        gates: Sequence[Gate] = GATES,
        expose_sees: Literal["previous", "new"] = "previous",
    ) -> None:
        self.forget_bias = forget_bias
        super().__init__(input_size, hidden_size, bias=bias)
        self.peeping = _in_order(gates)
        self.is_full = chosen("peepholes", peepholes, ("diagonal", "full")) == "full"
        self.exposes_new = chosen("expose_sees", expose_sees, ("previous", "new")) == "new"
        count = len(self.peeping)
        self.peephole = nn.Parameter(torch.empty(count * hidden_size if self.is_full else count, hidden_size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        open_forget_gate(self.bias, gate=1, size=self.hidden_size, value=self.forget_bias)

    def gates(self, projected: Float[Tensor, "batch gates"], state: State) -> dict[str, Float[Tensor, "batch hidden"]]:
        hidden, memory = state
        write, forget, candidate, expose = (projected + hidden @ self.recurrent.T).chunk(4, dim=-1)
        found = {
            "write": torch.sigmoid(write + self._peep("write", memory)),
            "forget": torch.sigmoid(forget + self._peep("forget", memory)),
            "candidate": torch.tanh(candidate),
        }
        seen = found["forget"] * memory + found["write"] * found["candidate"] if self.exposes_new else memory
        return {**found, "expose": torch.sigmoid(expose + self._peep("expose", seen))}

    def _peep(self, gate: str, memory: Float[Tensor, "batch hidden"]) -> Float[Tensor, "batch hidden"] | float:
        if gate not in self.peeping:
            return 0.0
        weights = self.peephole.chunk(len(self.peeping))[self.peeping.index(gate)]  # (hidden, hidden), or the diagonal (1, hidden)
        return memory @ weights.T if self.is_full else memory * weights

    def mixing(self, gates: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return gates["forget"], gates["write"]

    def step(self, projected: Float[Tensor, "batch gates"], state: State) -> tuple[Float[Tensor, "batch hidden"], State]:
        gates = self.gates(projected, state)
        memory = gates["forget"] * state[1] + gates["write"] * gates["candidate"]
        hidden = gates["expose"] * torch.tanh(memory)
        return hidden, (hidden, memory)

    def fast_walk(self, rows: Float[Tensor, "rows input"], state: State, path: Path) -> tuple[Float[Tensor, "rows hidden"], State] | None:
        weights = (rows, self.input, self.recurrent, self.bias)
        if not self.is_full and native(rows) is not None:
            kernel = "peephole_lstm_new" if self.exposes_new else "peephole_lstm"
            hidden, *last = applied(MemoryWalk, *weights, *state, self._all_peepholes(), path, kernel)
        elif not self.is_full:
            hidden, *last = applied(PeepholeLSTMWalk, *weights, *state, self._all_peepholes(), path, self.exposes_new)
        elif not (self.exposes_new and "expose" in self.peeping):
            write, forget, expose = self._all_peepholes().split(self.hidden_size)
            seen = torch.cat([write, forget, torch.zeros_like(write), expose])  # (4 * hidden, hidden): the candidate sees no memory
            hidden, *last = applied(FullPeepholeLSTMWalk, *weights, *state, seen, path)
        else:
            return None
        return hidden, tuple(last)

    def _all_peepholes(self) -> Float[Tensor, "gates hidden"]:
        """The weights of all three gates: zeros for one that does not peep, which is the same cell."""
        if len(self.peeping) == len(GATES):
            return self.peephole
        blocks = dict(zip(self.peeping, self.peephole.chunk(len(self.peeping)), strict=True))
        blind = torch.zeros_like(next(iter(blocks.values())))
        return torch.cat([blocks.get(gate, blind) for gate in GATES])

    def extra_repr(self) -> str:
        kind, seen = "full" if self.is_full else "diagonal", "new" if self.exposes_new else "previous"
        return f"{super().extra_repr()}, peepholes={kind}, gates=({', '.join(self.peeping)}), expose_sees={seen}"


def _in_order(gates: Sequence[str]) -> tuple[str, ...]:
    for gate in gates:
        if gate not in GATES:
            raise UsageError(f"gates: a peephole LSTM has no gate '{gate}'.", cure=nearest(gate, GATES))
    if not gates or len(set(gates)) != len(gates):
        raise UsageError(
            f"gates: {listed(list(gates))}; at least one gate sees the memory, and each is named once.",
            cure="There is: write, forget, expose. A cell whose gates see no memory is the lstm.",
        )
    return tuple(gate for gate in GATES if gate in gates)
