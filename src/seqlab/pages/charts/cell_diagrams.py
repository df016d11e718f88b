"""One schematic per cell, from a plain description: gates, products, and what is carried along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from seqlab.core.errors import UsageError, nearest
from seqlab.pages.charts.diagram import Box, Drawing, Line, Operator, Part, Words

TOP, MIDDLE, GATES, BUS = 60.0, 125.0, 190.0, 262.0
LEFT = 64.0


@dataclass(frozen=True)
class PlainCell:
    """hidden' = bend(W x + U h): no gate, nothing carried but the state itself."""

    bend: str
    matrix: str = "U h"


@dataclass(frozen=True)
class MemoryCell:
    """A memory that is kept, written and shown through gates (the LSTM and its relatives)."""

    writes: Literal["own gate", "1 - forget"] = "own gate"
    peepholes: bool = False
    norms: bool = False
    projection: bool = False


@dataclass(frozen=True)
class MixingCell:
    """A hidden state that is mixed with a candidate (the GRU and its relatives). `keeps` names the gate that multiplies the old state."""

    gate: str
    keeps: Literal["gate", "1 - gate"]
    candidate: str = "tanh"
    reset: Literal["none", "before", "after"] = "none"
    sees_state: bool = True


CELLS: dict[str, PlainCell | MemoryCell | MixingCell] = {
    "rnn": PlainCell("tanh"),
    "orthogonal_rnn": PlainCell("modrelu", "U h,  UᵀU = 1"),
    "lstm": MemoryCell(),
    "peephole_lstm": MemoryCell(peepholes=True),
    "coupled_lstm": MemoryCell(writes="1 - forget"),
    "layer_norm_lstm": MemoryCell(norms=True),
    "projected_lstm": MemoryCell(projection=True),
    "gru": MixingCell("update", "gate", reset="after"),
    "reset_before_gru": MixingCell("update", "gate", reset="before"),
    "single_gate": MixingCell("update", "1 - gate"),
    "additive": MixingCell("gate", "gate", candidate="any"),
    "min_gru": MixingCell("write", "1 - gate", candidate="linear", sees_state=False),
}


def cell_diagram(name: str) -> Drawing:
    """The schematic of a registered cell.

    >>> cell_diagram("gru").title
    'One step of gru'
    """
    if name not in CELLS:
        raise UsageError(f"there is no picture of a cell called '{name}'.", cure=nearest(name, CELLS))
    description = CELLS[name]
    if isinstance(description, PlainCell):
        return Drawing(f"One step of {name}", _about_plain(description), 470.0, 190.0, list(_plain(description)))
    if isinstance(description, MemoryCell):
        width = 790.0 if description.projection else 710.0
        return Drawing(f"One step of {name}", _about_memory(description), width, 320.0, list(_memory(description, width)))
    return Drawing(f"One step of {name}", _about_mixing(description), 680.0, 320.0, list(_mixing(description)))


def _plain(cell: PlainCell) -> Iterator[Part]:
    yield Line([(70.0, 60.0), (108.0, 60.0)], way="carried")
    yield Line([(204.0, 60.0), (229.0, 60.0)])
    yield Line([(156.0, 150.0), (240.0, 150.0), (240.0, 71.0)])
    yield Line([(251.0, 60.0), (286.0, 60.0)])
    yield Line([(362.0, 60.0), (418.0, 60.0)], way="carried")
    yield Words(64.0, 64.5, "hₜ₋₁", anchor="end")
    yield Box(156.0, 60.0, cell.matrix, width=96.0)
    yield Words(64.0, 154.5, "xₜ", anchor="end")
    yield Line([(70.0, 150.0), (108.0, 150.0)])
    yield Box(156.0, 150.0, "W x + b", width=96.0)
    yield Operator(240.0, 60.0, "+")
    yield Box(324.0, 60.0, cell.bend, kind="bend", width=76.0)
    yield Words(424.0, 64.5, "hₜ", anchor="start")


def _memory(cell: MemoryCell, width: float) -> Iterator[Part]:
    coupled = cell.writes == "1 - forget"
    forget, write, candidate, expose, show = 150.0, 262.0, 362.0, 502.0, 592.0
    add = candidate if coupled else (write + candidate) / 2
    yield Line([(LEFT, TOP), (forget - 11, TOP)], way="carried")
    yield Line([(forget + 11, TOP), (add - 11, TOP)], way="carried")
    yield Line([(add + 11, TOP), (width - 62, TOP)], way="carried")
    yield Words(LEFT - 6, TOP + 4.5, "cₜ₋₁", anchor="end")
    yield Words(width - 56, TOP + 4.5, "cₜ", anchor="start")
    gates = [(forget, "forget")] if coupled else [(forget, "forget"), (write, "write")]
    yield from _inputs([x for x, _ in [*gates, (candidate, ""), (expose, "")]])
    for x, name in [*gates, (expose, "expose")]:
        yield Box(x, GATES, "σ", kind="gate", width=54.0)
        yield Words(x + 32, GATES + 4.5, name, anchor="start", quiet=True)
    yield Box(candidate, GATES, "tanh", kind="bend", width=54.0)
    yield Words(candidate + 32, GATES + 4.5, "candidate", anchor="start", quiet=True)
    yield Line([(forget, GATES - 16), (forget, TOP + 11)])
    yield Operator(forget, TOP, "×")
    yield Line([(add, MIDDLE - 11), (add, TOP + 11)])
    yield Operator(add, MIDDLE, "×")
    yield Operator(add, TOP, "+")
    if coupled:
        yield Line([(forget, MIDDLE), (216.0, MIDDLE)])
        yield Line([(264.0, MIDDLE), (add - 11, MIDDLE)])
        yield Box(240.0, MIDDLE, "1 −", width=48.0, height=28.0)
        yield Line([(candidate, GATES - 16), (candidate, MIDDLE + 11)])
    else:
        yield Line([(write, GATES - 16), (write, MIDDLE), (add - 11, MIDDLE)])
        yield Line([(candidate, GATES - 16), (candidate, MIDDLE), (add + 11, MIDDLE)])
    yield from _shown(cell, expose, show, width)
    if cell.peepholes:
        for x in (forget, write, expose):
            yield Line([(96.0, TOP), (96.0, 158.0), (x - 14, 158.0), (x - 14, GATES - 16)], way="peep")
        yield Words(90.0, 112.0, "P c", anchor="end", quiet=True)
    if cell.norms:
        yield Words(forget - 14, BUS + 20, "norm(W x) and norm(U h) enter the gates", anchor="start", quiet=True)


def _shown(cell: MemoryCell, expose: float, show: float, width: float) -> Iterator[Part]:
    """From the new memory down to the hidden state."""
    meet = 156.0
    yield Line([(show, TOP), (show, 82.0)])
    yield Box(show, 97.0, "tanh(norm)" if cell.norms else "tanh", kind="bend", width=84.0 if cell.norms else 54.0, height=28.0)
    yield Line([(show, 111.0), (show, meet - 11)])
    yield Line([(expose, GATES - 16), (expose, meet), (show - 11, meet)])
    yield Operator(show, meet, "×")
    end = width - 62.0
    if cell.projection:
        yield Line([(show + 11, meet), (636.0, meet)])
        yield Box(668.0, meet, "R", width=64.0, below="projection")
        yield Line([(700.0, meet), (end, meet)])
    else:
        yield Line([(show + 11, meet), (end, meet)])
    yield Words(end + 6, meet + 4.5, "hₜ", anchor="start")


def _mixing(cell: MixingCell) -> Iterator[Part]:
    gate, candidate, reset = 190.0, 370.0, 560.0
    end = 618.0
    yield Line([(LEFT, TOP), (gate - 11, TOP)], way="carried")
    yield Line([(gate + 11, TOP), (candidate - 11, TOP)], way="carried")
    yield Line([(candidate + 11, TOP), (end, TOP)], way="carried")
    yield Words(LEFT - 6, TOP + 4.5, "hₜ₋₁", anchor="end")
    yield Words(end + 6, TOP + 4.5, "hₜ", anchor="start")
    resets = cell.reset != "none"
    yield from _inputs([gate, candidate, *([reset] if resets else [])], sees_state=cell.sees_state, from_top=True)
    yield Box(gate, GATES, "σ", kind="gate", width=54.0)
    yield Words(gate + 32, GATES + 4.5, cell.gate, anchor="start", quiet=True)
    yield Box(candidate, GATES, cell.candidate, kind="bend" if cell.candidate != "linear" else "plain", width=54.0)
    yield Words(candidate - 32, GATES + 4.5, "candidate", anchor="end", quiet=True)
    yield Line([(candidate, GATES - 16), (candidate, MIDDLE + 11)])
    yield Line([(candidate, MIDDLE - 11), (candidate, TOP + 11)])
    yield Operator(candidate, MIDDLE, "×")
    yield Operator(candidate, TOP, "+")
    yield Operator(gate, TOP, "×")
    yield from _mixing_gate(cell, gate, candidate)
    if resets:
        yield from _reset(cell, candidate, reset)


def _mixing_gate(cell: MixingCell, gate: float, candidate: float) -> Iterator[Part]:
    """The gate on one side, one minus the gate on the other."""
    if cell.keeps == "gate":
        yield Line([(gate, GATES - 16), (gate, TOP + 11)])
        yield Line([(gate, MIDDLE), (256.0, MIDDLE)])
        yield Box(280.0, MIDDLE, "1 −", width=48.0, height=28.0)
        yield Line([(304.0, MIDDLE), (candidate - 11, MIDDLE)])
    else:
        yield Line([(gate, GATES - 16), (gate, 152.0), (candidate - 40, 152.0), (candidate - 40, MIDDLE), (candidate - 11, MIDDLE)])
        yield Line([(gate, 152.0), (gate, 120.0)])
        yield Box(gate, 106.0, "1 −", width=48.0, height=28.0)
        yield Line([(gate, 92.0), (gate, TOP + 11)])


def _reset(cell: MixingCell, candidate: float, reset: float) -> Iterator[Part]:
    """The reset gate between the old state and the candidate."""
    meet = 470.0
    yield Words(candidate + 7, 234.0, "W x", anchor="start", quiet=True)
    yield Words(meet + 7, 255.0, "h", anchor="start", quiet=True)
    yield Box(reset, GATES, "σ", kind="gate", width=54.0)
    yield Words(reset + 32, GATES + 4.5, "reset", anchor="start", quiet=True)
    if cell.reset == "after":
        yield Box(meet, 228.0, "U h", width=54.0, height=26.0)
        yield Line([(meet, BUS), (meet, 241.0)])
        yield Line([(meet, 215.0), (meet, GATES + 11)])
        yield Operator(meet, GATES, "×")
        yield Line([(reset - 27, GATES), (meet + 11, GATES)])
        yield Line([(meet - 11, GATES), (candidate + 27, GATES)])
    else:
        yield Line([(meet, BUS), (meet, 239.0)])
        yield Operator(meet, 228.0, "×")
        yield Line([(reset, GATES - 16), (reset, 150.0), (515.0, 150.0), (515.0, 228.0), (meet + 11, 228.0)])
        yield Line([(meet, 217.0), (meet, GATES + 13)])
        yield Box(meet, GATES, "U", width=54.0, height=26.0)
        yield Line([(meet - 27, GATES), (candidate + 27, GATES)])


def _inputs(columns: list[float], *, sees_state: bool = True, from_top: bool = False) -> Iterator[Part]:
    """The line at the bottom from which every gate reads; hₜ₋₁ comes in from the left, or down from the carried line."""
    last = max(columns)
    begin = LEFT + 30 if from_top and sees_state else LEFT
    if sees_state and from_top:
        yield Line([(begin, TOP), (begin, BUS), (last, BUS), (last, GATES + 16)])
    else:
        yield Line([(LEFT, BUS), (last, BUS), (last, GATES + 16)])
    for x in columns[:-1] if last == columns[-1] else columns:
        yield Line([(x, BUS), (x, GATES + 16)])
    if sees_state:
        if not from_top:
            yield Words(LEFT - 6, BUS + 4.5, "hₜ₋₁", anchor="end")
        yield Line([(118.0, 292.0), (118.0, BUS)], arrow=True)
        yield Words(118.0, 308.0, "xₜ")
    else:
        yield Words(LEFT - 6, BUS + 4.5, "xₜ", anchor="end")


def _about_plain(cell: PlainCell) -> str:
    return f"The input and the previous hidden state are multiplied by their matrices and added; {cell.bend} of the sum is the new hidden state."


def _about_memory(cell: MemoryCell) -> str:
    writing = "one minus the forget gate" if cell.writes == "1 - forget" else "the writing gate"
    more = " The gates also see the memory." if cell.peepholes else ""
    more += " Sums and memory are normalised." if cell.norms else ""
    more += " The hidden state is projected to fewer units." if cell.projection else ""
    return (
        f"The memory runs along the top: it is multiplied by the forget gate, and the candidate times {writing} is added. Its tanh times the "
        "exposing gate is "
        f"the hidden state.{more}"
    )


def _about_mixing(cell: MixingCell) -> str:
    old, new = ("the gate", "one minus the gate") if cell.keeps == "gate" else ("one minus the gate", "the gate")
    seen = "" if cell.sees_state else " Gate and candidate see the input alone."
    resets = {
        "none": "",
        "before": " The reset gate multiplies the old state before the candidate's matrix.",
        "after": " The reset gate multiplies U h.",
    }
    return f"The hidden state runs along the top: it is multiplied by {old}, and the candidate times {new} is added.{resets[cell.reset]}{seen}"
