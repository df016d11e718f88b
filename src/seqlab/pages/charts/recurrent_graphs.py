"""Diagrams of recurrence: a cell and its unrolled copies, several layers over time, and the computation
graph of backpropagation.
"""

from __future__ import annotations

from collections.abc import Iterator

from seqlab.pages.charts.diagram import Box, Diagram, DiagramPart, Label, Line, Operator

GAP_X, GAP_Y = 120.0, 92.0
BOX = 64.0
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def subscript(number: int) -> str:
    """
    >>> subscript(12)
    '₁₂'
    """
    return str(number).translate(SUBSCRIPTS)


def unrolled_graph(steps: int = 4) -> Diagram:
    """The cell with its loop on the left, and on the right one copy per step, all with the same weights."""
    parts: list[DiagramPart] = [
        *_column(70.0, "x", "h", "y", cell="f"),
        Line(
            [(102.0, 140.0), (132.0, 140.0), (132.0, 112.0), (14.0, 112.0), (14.0, 140.0), (38.0, 140.0)],
            style="carried",
        ),
        Label(138.0, 130.0, "U", anchor="start", muted=True),
        Label(192.0, 145.0, "="),
    ]
    for step in range(1, steps + 1):
        x = 290.0 + GAP_X * (step - 1)
        mark = subscript(step)
        parts += _column(x, f"x{mark}", f"h{mark}", f"y{mark}", cell="f")
        before = f"h{subscript(0)}" if step == 1 else ""
        parts.append(
            Line(
                [(x - GAP_X + BOX / 2 if step > 1 else x - 62.0, 140.0), (x - BOX / 2, 140.0)],
                style="carried",
            )
        )
        parts.append(
            Label(x - (62.0 if step == 1 else 60.0), 132.0, before or "U", anchor="middle", muted=step > 1)
        )
    width = 290.0 + GAP_X * (steps - 1) + 90.0
    description = (
        f"One recurrent cell unrolled into {steps} copies, one per time step. The copies share the"
        " weights W, U and V."
    )
    parts.append(Label(width / 2 + 60, 262.0, "the same W, U and V in every copy", muted=True))
    return Diagram("A recurrent cell, unrolled over time", description, width, 280.0, parts)


def _column(x: float, below: str, state: str, above: str, *, cell: str) -> Iterator[DiagramPart]:
    """Input, cell and output of one step, from the bottom to the top."""
    yield Line([(x, 204.0), (x, 156.0)])
    yield Line([(x, 124.0), (x, 76.0)])
    yield Box(x, 220.0, below, kind="input", width=46.0)
    yield Box(x, 140.0, cell, kind="state", width=BOX)
    yield Box(x, 60.0, above, kind="output", width=46.0)
    yield Label(x + 8, 186.0, "W", anchor="start", muted=True)
    yield Label(x + 8, 98.0, f"V {state}", anchor="start", muted=True)


def layer_graph(layers: int = 3, steps: int = 4) -> Diagram:
    """Layer n at step t reads layer n-1 at the same step and itself at the step before."""
    height = 62.0 + GAP_Y * (layers + 1)
    bottom = height - 40.0
    parts: list[DiagramPart] = []
    for step in range(1, steps + 1):
        x = 150.0 + GAP_X * (step - 1)
        parts.append(Box(x, bottom, f"x{subscript(step)}", kind="input", width=46.0))
        for layer in range(1, layers + 1):
            y = bottom - GAP_Y * layer
            parts.append(Box(x, y, f"h{subscript(step)}⁽{_superscript(layer)}⁾", kind="state", width=BOX))
            parts.append(Line([(x, y + GAP_Y - 16.0), (x, y + 16.0)]))
            parts.append(
                Line([(x - (GAP_X - BOX / 2 if step > 1 else 80.0), y), (x - BOX / 2, y)], style="carried")
            )
        top = bottom - GAP_Y * layers
        parts.append(Line([(x, top - 16.0), (x, top - 48.0)]))
        parts.append(Box(x, top - 64.0, f"y{subscript(step)}", kind="output", width=46.0))
    for layer in range(1, layers + 1):
        parts.append(Label(62.0, bottom - GAP_Y * layer + 4.5, f"layer {layer}", anchor="end", muted=True))
    width = 150.0 + GAP_X * (steps - 1) + 70.0
    description = (
        f"{layers} recurrent layers over {steps} steps. Arrows go up to the next layer and right to the"
        " next step; boxes on one diagonal can be computed in parallel."
    )
    return Diagram("Stacked recurrent layers over time", description, width, height, parts)


def _superscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def backpropagation_graph(steps: int = 3) -> Diagram:
    """h_t = W x_t + U h_{t-1}, o_t = V h_t: what the forward pass computes and stores, and what the
    backward pass reuses.
    """
    parts: list[DiagramPart] = []
    for step in range(1, steps + 1):
        parts += _graph_step(step, 130.0 + 190.0 * (step - 1), last=step == steps)
    width = 130.0 + 190.0 * steps - 20.0
    parts.append(Line([(44.0, 200.0), (88.0, 200.0)], style="carried"))
    parts.append(Box(30.0, 200.0, "h₀", kind="kept", width=40.0))
    parts += [
        Label(20.0, 352.0, "Stored in the forward pass: every x and every h (violet).", "start", muted=True),
        Label(
            20.0,
            372.0,
            "In the backward pass (dashed): δₜ = ∂L/∂hₜ = Vᵀ ∂L/∂oₜ + Uᵀ δₜ₊₁, computed once per step",
            "start",
            muted=True,
        ),
        Label(
            20.0,
            396.0,
            "and used for both weights:  ∂L/∂W = Σₜ δₜ xₜᵀ,   ∂L/∂U = Σₜ δₜ hₜ₋₁ᵀ",
            "start",
            bold=True,
        ),
    ]
    description = (
        f"The computational graph of {steps} steps of a linear recurrent network. Each hidden state is"
        " stored; the backward pass computes one gradient per step and reuses it for the gradients of"
        " both weight matrices."
    )
    return Diagram("Backpropagation through time", description, max(width, 620.0), 412.0, parts)


def _graph_step(step: int, x: float, *, last: bool) -> Iterator[DiagramPart]:
    mark = subscript(step)
    yield Line([(x - 24.0, 200.0), (x + 24.0, 200.0)], style="carried")
    yield Line([(x - 36.0, 284.0), (x - 36.0, 212.0)])
    yield Line([(x + 44.0, 184.0), (x + 44.0, 126.0)])
    yield Line([(x + 44.0, 94.0), (x + 44.0, 56.0)])
    yield Operator(x - 36.0, 200.0, "+")
    yield Box(x - 36.0, 300.0, f"x{mark}", kind="kept", width=46.0)
    yield Box(x + 44.0, 200.0, f"h{mark}", kind="kept", width=46.0)
    yield Box(x + 44.0, 110.0, f"o{mark}", kind="output", width=46.0)
    yield Box(x + 44.0, 40.0, f"L{mark}", kind="plain", width=46.0)
    yield Label(x - 43.0, 258.0, "W", anchor="end", muted=True)
    yield Label(x - 66.0, 192.0, "U", anchor="middle", muted=True)
    yield Label(x + 36.0, 158.0, "V", anchor="end", muted=True)
    yield Line([(x + 58.0, 126.0), (x + 58.0, 183.0)], style="backward")
    yield Label(x + 65.0, 158.0, f"δ{mark}", anchor="start")
    yield Line([(x + 34.0, 217.0), (x + 34.0, 234.0), (x - 24.0, 234.0), (x - 24.0, 284.0)], style="backward")
    yield Label(x + 6.0, 250.0, f"δ{mark}x{mark}ᵀ", anchor="middle", muted=True)
    if not last:
        yield Line([(x + 130.0, 222.0), (x + 60.0, 222.0)], style="backward")
        yield Label(x + 98.0, 239.0, f"Uᵀδ{subscript(step + 1)},  δ{subscript(step + 1)}h{mark}ᵀ", muted=True)
        yield Line([(x + 67.0, 200.0), (x + 142.0, 200.0)], style="carried")
