"""In the picture of a cell every gate has the name of what it does: followed along the lines that are drawn."""

from __future__ import annotations

import pytest

from seqlab.pages.charts.cell_diagrams import cell_diagram
from seqlab.pages.charts.diagram import Box, Diagram, Label, Line, Operator

REACH = 14.0
"""A line ends at the rim of an operator, not at its center."""
LSTMS = ["lstm", "peephole_lstm", "layer_norm_lstm", "projected_lstm"]


def gate_named(drawing: Diagram, name: str) -> Box:
    """The box beside a name."""
    (label,) = [part for part in drawing.parts if isinstance(part, Label) and part.text == name]
    boxes = [part for part in drawing.parts if isinstance(part, Box) and abs(part.y - label.y) < 10]
    return min(boxes, key=lambda box: abs(box.x - label.x))


def reached_from(drawing: Diagram, box: Box) -> Operator:
    """The operator at which the line from the upper edge of a box ends."""
    (line,) = [
        part
        for part in drawing.parts
        if isinstance(part, Line) and part.style == "forward" and part.points[0] == (box.x, box.y - 16)
    ]
    x, y = line.points[-1]
    (operator,) = [
        part
        for part in drawing.parts
        if isinstance(part, Operator) and abs(part.x - x) + abs(part.y - y) < REACH
    ]
    return operator


def carried_height(drawing: Diagram) -> float:
    (height,) = {
        y
        for part in drawing.parts
        if isinstance(part, Line) and part.style == "carried"
        for _, y in part.points
    }
    return height


@pytest.mark.spec(177)
@pytest.mark.parametrize("cell", LSTMS)
def test_the_gates_of_an_lstm_are_named_after_what_they_multiply(cell: str) -> None:
    drawing = cell_diagram(cell)
    forget, write, candidate, show = (
        reached_from(drawing, gate_named(drawing, name))
        for name in ("forget", "input", "candidate", "output")
    )
    memory = carried_height(drawing)
    assert (forget.symbol, forget.y) == ("×", memory)  # the old cell state
    assert write is candidate  # the candidate,
    assert (write.symbol, write.y > memory) == ("×", True)
    (added,) = [part for part in drawing.parts if isinstance(part, Operator) and part.symbol == "+"]
    assert (added.x, added.y) == (write.x, memory)  # which is added to what is kept,
    assert forget.x < added.x < show.x  # and shown last
    assert (show.symbol, show.y > memory) == ("×", True)


@pytest.mark.spec(177)
def test_the_one_gate_of_a_coupled_lstm_forgets() -> None:
    drawing = cell_diagram("coupled_lstm")
    forget = reached_from(drawing, gate_named(drawing, "forget"))
    assert (forget.symbol, forget.y) == ("×", carried_height(drawing))


@pytest.mark.spec(177)
@pytest.mark.parametrize("cell", ["gru", "reset_before_gru"])
def test_the_update_gate_of_a_gru_keeps_the_state_and_the_reset_gate_does_not_touch_it(cell: str) -> None:
    drawing = cell_diagram(cell)
    update, reset = (gate_named(drawing, name) for name in ("update", "reset"))
    kept = reached_from(drawing, update)
    assert (kept.symbol, kept.x, kept.y) == ("×", update.x, carried_height(drawing))
    products = [part for part in drawing.parts if isinstance(part, Operator) and part.symbol == "×"]
    candidate = gate_named(drawing, "candidate")
    (before_candidate,) = [product for product in products if product.y >= candidate.y]
    assert candidate.x < before_candidate.x < reset.x  # between the old state and the candidate
