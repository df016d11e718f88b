"""Schematic diagrams of cells from plain descriptions of their gates, products and states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from seqlab.core.errors import UsageError, nearest
from seqlab.pages.charts.diagram import Box, Diagram, DiagramPart, Label, Line, Operator

TOP, MIDDLE, GATES, BUS = 60.0, 125.0, 190.0, 262.0
LEFT = 64.0


@dataclass(frozen=True)
class RNNDiagram:
    """hidden' = activation(W x + U h): no gate and no state besides the hidden state."""

    activation: str
    matrix: str = "U h"


@dataclass(frozen=True)
class LSTMDiagram:
    """A cell state controlled by input, forget and output gates (the LSTM and its variants)."""

    input_gate: Literal["own gate", "1 - forget"] = "own gate"
    peepholes: bool = False
    norms: bool = False
    projection: bool = False


@dataclass(frozen=True)
class GRUDiagram:
    """A hidden state that is mixed with a candidate (the GRU and its variants).

    `kept_by` names the gate that multiplies the old state.
    """

    gate: str
    kept_by: Literal["gate", "1 - gate"]
    candidate: str = "tanh"
    reset: Literal["none", "before", "after"] = "none"
    sees_state: bool = True


CELL_DIAGRAMS: dict[str, RNNDiagram | LSTMDiagram | GRUDiagram] = {
    "rnn": RNNDiagram("tanh"),
    "orthogonal_rnn": RNNDiagram("modrelu", "U h,  UᵀU = 1"),
    "lstm": LSTMDiagram(),
    "peephole_lstm": LSTMDiagram(peepholes=True),
    "coupled_lstm": LSTMDiagram(input_gate="1 - forget"),
    "layer_norm_lstm": LSTMDiagram(norms=True),
    "projected_lstm": LSTMDiagram(projection=True),
    "gru": GRUDiagram("update", "gate", reset="after"),
    "reset_before_gru": GRUDiagram("update", "gate", reset="before"),
    "single_gate": GRUDiagram("update", "1 - gate"),
    "additive": GRUDiagram("gate", "gate", candidate="any"),
    "min_gru": GRUDiagram("update", "1 - gate", candidate="linear", sees_state=False),
}


def cell_diagram(name: str) -> Diagram:
    """The schematic of a registered cell.

    >>> cell_diagram("gru").title
    'One step of gru'
    """
    if name not in CELL_DIAGRAMS:
        raise UsageError(f"there is no diagram of a cell called '{name}'.", cure=nearest(name, CELL_DIAGRAMS))
    description = CELL_DIAGRAMS[name]
    if isinstance(description, RNNDiagram):
        return Diagram(
            f"One step of {name}", _describe_rnn(description), 470.0, 190.0, list(_draw_rnn(description))
        )
    if isinstance(description, LSTMDiagram):
        width = 790.0 if description.projection else 710.0
        return Diagram(
            f"One step of {name}",
            _describe_lstm(description),
            width,
            320.0,
            list(_draw_lstm(description, width)),
        )
    return Diagram(
        f"One step of {name}", _describe_gru(description), 680.0, 320.0, list(_draw_gru(description))
    )


def _draw_rnn(cell: RNNDiagram) -> Iterator[DiagramPart]:
    yield Line([(70.0, 60.0), (108.0, 60.0)], style="carried")
    yield Line([(204.0, 60.0), (229.0, 60.0)])
    yield Line([(156.0, 150.0), (240.0, 150.0), (240.0, 71.0)])
    yield Line([(251.0, 60.0), (286.0, 60.0)])
    yield Line([(362.0, 60.0), (418.0, 60.0)], style="carried")
    yield Label(64.0, 64.5, "hₜ₋₁", anchor="end")
    yield Box(156.0, 60.0, cell.matrix, width=96.0)
    yield Label(64.0, 154.5, "xₜ", anchor="end")
    yield Line([(70.0, 150.0), (108.0, 150.0)])
    yield Box(156.0, 150.0, "W x + b", width=96.0)
    yield Operator(240.0, 60.0, "+")
    yield Box(324.0, 60.0, cell.activation, kind="bend", width=76.0)
    yield Label(424.0, 64.5, "hₜ", anchor="start")


def _draw_lstm(cell: LSTMDiagram, width: float) -> Iterator[DiagramPart]:
    coupled = cell.input_gate == "1 - forget"
    forget, input_gate, candidate, output_gate, hidden = 150.0, 262.0, 362.0, 502.0, 592.0
    add = candidate if coupled else (input_gate + candidate) / 2
    yield Line([(LEFT, TOP), (forget - 11, TOP)], style="carried")
    yield Line([(forget + 11, TOP), (add - 11, TOP)], style="carried")
    yield Line([(add + 11, TOP), (width - 62, TOP)], style="carried")
    yield Label(LEFT - 6, TOP + 4.5, "cₜ₋₁", anchor="end")
    yield Label(width - 56, TOP + 4.5, "cₜ", anchor="start")
    gates = [(forget, "forget")] if coupled else [(forget, "forget"), (input_gate, "input")]
    yield from _draw_inputs([x for x, _ in [*gates, (candidate, ""), (output_gate, "")]])
    for x, name in [*gates, (output_gate, "output")]:
        yield Box(x, GATES, "σ", kind="gate", width=54.0)
        yield Label(x + 32, GATES + 4.5, name, anchor="start", muted=True)
    yield Box(candidate, GATES, "tanh", kind="bend", width=54.0)
    yield Label(candidate + 32, GATES + 4.5, "candidate", anchor="start", muted=True)
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
        yield Line([(input_gate, GATES - 16), (input_gate, MIDDLE), (add - 11, MIDDLE)])
        yield Line([(candidate, GATES - 16), (candidate, MIDDLE), (add + 11, MIDDLE)])
    yield from _draw_hidden_output(cell, output_gate, hidden, width)
    if cell.peepholes:
        for x in (forget, input_gate, output_gate):
            yield Line([(96.0, TOP), (96.0, 158.0), (x - 14, 158.0), (x - 14, GATES - 16)], style="peep")
        yield Label(90.0, 112.0, "P c", anchor="end", muted=True)
    if cell.norms:
        yield Label(
            forget - 14, BUS + 20, "norm(W x) and norm(U h) enter the gates", anchor="start", muted=True
        )


def _draw_hidden_output(
    cell: LSTMDiagram, output_gate: float, hidden: float, width: float
) -> Iterator[DiagramPart]:
    """The path from the new cell state to the hidden state."""
    crossing = 156.0
    yield Line([(hidden, TOP), (hidden, 82.0)])
    yield Box(
        hidden,
        97.0,
        "tanh(norm)" if cell.norms else "tanh",
        kind="bend",
        width=84.0 if cell.norms else 54.0,
        height=28.0,
    )
    yield Line([(hidden, 111.0), (hidden, crossing - 11)])
    yield Line([(output_gate, GATES - 16), (output_gate, crossing), (hidden - 11, crossing)])
    yield Operator(hidden, crossing, "×")
    end = width - 62.0
    if cell.projection:
        yield Line([(hidden + 11, crossing), (636.0, crossing)])
        yield Box(668.0, crossing, "R", width=64.0, caption="projection")
        yield Line([(700.0, crossing), (end, crossing)])
    else:
        yield Line([(hidden + 11, crossing), (end, crossing)])
    yield Label(end + 6, crossing + 4.5, "hₜ", anchor="start")


def _draw_gru(cell: GRUDiagram) -> Iterator[DiagramPart]:
    gate, candidate, reset = 190.0, 370.0, 560.0
    end = 618.0
    yield Line([(LEFT, TOP), (gate - 11, TOP)], style="carried")
    yield Line([(gate + 11, TOP), (candidate - 11, TOP)], style="carried")
    yield Line([(candidate + 11, TOP), (end, TOP)], style="carried")
    yield Label(LEFT - 6, TOP + 4.5, "hₜ₋₁", anchor="end")
    yield Label(end + 6, TOP + 4.5, "hₜ", anchor="start")
    resets = cell.reset != "none"
    yield from _draw_inputs(
        [gate, candidate, *([reset] if resets else [])], sees_state=cell.sees_state, from_top=True
    )
    yield Box(gate, GATES, "σ", kind="gate", width=54.0)
    yield Label(gate + 32, GATES + 4.5, cell.gate, anchor="start", muted=True)
    yield Box(
        candidate, GATES, cell.candidate, kind="bend" if cell.candidate != "linear" else "plain", width=54.0
    )
    yield Label(candidate - 32, GATES + 4.5, "candidate", anchor="end", muted=True)
    yield Line([(candidate, GATES - 16), (candidate, MIDDLE + 11)])
    yield Line([(candidate, MIDDLE - 11), (candidate, TOP + 11)])
    yield Operator(candidate, MIDDLE, "×")
    yield Operator(candidate, TOP, "+")
    yield Operator(gate, TOP, "×")
    yield from _draw_update_gate(cell, gate, candidate)
    if resets:
        yield from _draw_reset_gate(cell, candidate, reset)


def _draw_update_gate(cell: GRUDiagram, gate: float, candidate: float) -> Iterator[DiagramPart]:
    """The gate on one side, one minus the gate on the other."""
    if cell.kept_by == "gate":
        yield Line([(gate, GATES - 16), (gate, TOP + 11)])
        yield Line([(gate, MIDDLE), (256.0, MIDDLE)])
        yield Box(280.0, MIDDLE, "1 −", width=48.0, height=28.0)
        yield Line([(304.0, MIDDLE), (candidate - 11, MIDDLE)])
    else:
        yield Line(
            [
                (gate, GATES - 16),
                (gate, 152.0),
                (candidate - 40, 152.0),
                (candidate - 40, MIDDLE),
                (candidate - 11, MIDDLE),
            ]
        )
        yield Line([(gate, 152.0), (gate, 120.0)])
        yield Box(gate, 106.0, "1 −", width=48.0, height=28.0)
        yield Line([(gate, 92.0), (gate, TOP + 11)])


def _draw_reset_gate(cell: GRUDiagram, candidate: float, reset: float) -> Iterator[DiagramPart]:
    """The reset gate between the old state and the candidate."""
    crossing = 470.0
    yield Label(candidate + 7, 234.0, "W x", anchor="start", muted=True)
    yield Label(crossing + 7, 255.0, "h", anchor="start", muted=True)
    yield Box(reset, GATES, "σ", kind="gate", width=54.0)
    yield Label(reset + 32, GATES + 4.5, "reset", anchor="start", muted=True)
    if cell.reset == "after":
        yield Box(crossing, 228.0, "U h", width=54.0, height=26.0)
        yield Line([(crossing, BUS), (crossing, 241.0)])
        yield Line([(crossing, 215.0), (crossing, GATES + 11)])
        yield Operator(crossing, GATES, "×")
        yield Line([(reset - 27, GATES), (crossing + 11, GATES)])
        yield Line([(crossing - 11, GATES), (candidate + 27, GATES)])
    else:
        yield Line([(crossing, BUS), (crossing, 239.0)])
        yield Operator(crossing, 228.0, "×")
        yield Line(
            [(reset, GATES - 16), (reset, 150.0), (515.0, 150.0), (515.0, 228.0), (crossing + 11, 228.0)]
        )
        yield Line([(crossing, 217.0), (crossing, GATES + 13)])
        yield Box(crossing, GATES, "U", width=54.0, height=26.0)
        yield Line([(crossing - 27, GATES), (candidate + 27, GATES)])


def _draw_inputs(
    columns: list[float], *, sees_state: bool = True, from_top: bool = False
) -> Iterator[DiagramPart]:
    """The line at the bottom from which every gate reads; hₜ₋₁ comes in from the left, or down from the
    carried line.
    """
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
            yield Label(LEFT - 6, BUS + 4.5, "hₜ₋₁", anchor="end")
        yield Line([(118.0, 292.0), (118.0, BUS)], arrow=True)
        yield Label(118.0, 308.0, "xₜ")
    else:
        yield Label(LEFT - 6, BUS + 4.5, "xₜ", anchor="end")


def _describe_rnn(cell: RNNDiagram) -> str:
    return (
        "The input and the previous hidden state are multiplied by their weight matrices and added;"
        f" {cell.activation} of the sum is the new hidden state."
    )


def _describe_lstm(cell: LSTMDiagram) -> str:
    input_gate = "one minus the forget gate" if cell.input_gate == "1 - forget" else "the input gate"
    more = " The gates also see the cell state." if cell.peepholes else ""
    more += " The sums and the cell state are normalized." if cell.norms else ""
    more += " The hidden state is projected to fewer units." if cell.projection else ""
    return (
        "The cell state runs along the top: it is multiplied by the forget gate, and the candidate times"
        f" {input_gate} is added. Its tanh times the output gate is the hidden state.{more}"
    )


def _describe_gru(cell: GRUDiagram) -> str:
    old, new = (
        ("the gate", "one minus the gate") if cell.kept_by == "gate" else ("one minus the gate", "the gate")
    )
    seen = "" if cell.sees_state else " Gate and candidate depend on the input only."
    resets = {
        "none": "",
        "before": " The reset gate multiplies the old state before the candidate's matrix.",
        "after": " The reset gate multiplies U h.",
    }
    return (
        f"The hidden state runs along the top: it is multiplied by {old}, and the candidate times {new} is"
        f" added.{resets[cell.reset]}{seen}"
    )
