from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from seqlab.cells.activations import ACTIVATIONS, sample_activation
from seqlab.cells.base import cells
from seqlab.core.errors import UsageError
from seqlab.pages.charts.activation_curves import activation_curves
from seqlab.pages.charts.cell_diagrams import cell_diagram
from seqlab.pages.charts.diagram import Box, Diagram, Label, Line, Operator, render_svg
from seqlab.pages.charts.recurrent_graphs import backpropagation_graph, layer_graph, unrolled_graph
from seqlab.pages.charts.trajectories import Trajectory, TrajectoryPlot, draw_trajectories
from tests.pages.reading import Page

DRAWINGS = {
    "copies": unrolled_graph(),
    "layers": layer_graph(),
    "back": backpropagation_graph(),
    "activations": activation_curves([sample_activation(name) for name in ACTIVATIONS]),
    **{name: cell_diagram(name) for name in cells.names()},
}


def boxes(drawing: Diagram, kind: str | None = None) -> list[Box]:
    return [part for part in drawing.parts if isinstance(part, Box) and kind in (None, part.kind)]


def lines(drawing: Diagram, way: str) -> list[Line]:
    return [part for part in drawing.parts if isinstance(part, Line) and part.style == way]


def texts(drawing: Diagram) -> list[str]:
    return [part.text for part in drawing.parts if isinstance(part, Label)]


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_a_whole_svg_file_and_stays_inside_its_frame(name: str) -> None:
    drawing = DRAWINGS[name]
    tree = ET.fromstring(render_svg(drawing))
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"
    assert not re.search(r"href|url\(|<script", render_svg(drawing))
    for part in drawing.parts:
        corners = list(part.points) if isinstance(part, Line) else [(part.x, part.y)]
        if isinstance(part, Box):
            corners = [(part.x + side * part.width / 2, part.y + side * part.height / 2) for side in (-1, 1)]
        assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in corners), part


@pytest.mark.parametrize("name", DRAWINGS)
def test_boxes_do_not_lie_on_each_other_and_words_do_not_lie_on_boxes(name: str) -> None:
    drawing = DRAWINGS[name]
    found = boxes(drawing)
    for number, one in enumerate(found):
        for other in found[number + 1 :]:
            assert (
                abs(one.x - other.x) >= (one.width + other.width) / 2
                or abs(one.y - other.y) >= (one.height + other.height) / 2
            ), (one, other)
    for words in [part for part in drawing.parts if isinstance(part, Label)]:
        width = 6.4 * len(words.text)
        left = words.x - {"start": 0.0, "middle": width / 2, "end": width}[words.anchor]
        for box in found:
            beside = left + width <= box.x - box.width / 2 or left >= box.x + box.width / 2
            assert beside or words.y <= box.y - box.height / 2 or words.y - 10 >= box.y + box.height / 2, (
                words.text,
                box.label,
            )


@pytest.mark.parametrize("name", cells.names())
def test_lines_of_a_cell_begin_and_end_at_something(name: str) -> None:
    """Each arrow ends at the edge of a box or circle, at another line, or beside a word; nothing points into
    the void.
    """
    drawing = cell_diagram(name)
    for line in [part for part in drawing.parts if isinstance(part, Line)]:
        assert any(_touches(line.points[-1], part) for part in drawing.parts if part is not line), (
            name,
            line.points,
        )


def _touches(point: tuple[float, float], part: object) -> bool:
    x, y = point
    if isinstance(part, Box):
        return abs(x - part.x) <= part.width / 2 + 1 and abs(y - part.y) <= part.height / 2 + 1
    if isinstance(part, Operator):
        return math.hypot(x - part.x, y - part.y) <= part.radius + 1
    if isinstance(part, Label):
        return abs(x - part.x) <= 12 and abs(y - part.y) <= 12
    assert isinstance(part, Line)
    return any(
        min(a[0], b[0]) - 1 <= x <= max(a[0], b[0]) + 1 and min(a[1], b[1]) - 1 <= y <= max(a[1], b[1]) + 1
        for a, b in zip(part.points, part.points[1:], strict=False)
    )


@pytest.mark.spec(82)
def test_copies_and_layers_have_one_box_for_every_state_and_one_arrow_for_every_dependence() -> None:
    copies = unrolled_graph(5)
    assert len(boxes(copies, "state")) == 1 + 5  # the cell with its loop, and its copies
    assert {"x₁", "x₅", "y₁", "y₅"} <= {box.label for box in boxes(copies)}
    graph = layer_graph(layers=3, steps=4)
    assert len(boxes(graph, "state")) == 3 * 4
    assert len(lines(graph, "carried")) == 3 * 4
    assert len(lines(graph, "forward")) == (3 + 1) * 4


@pytest.mark.spec(87)
def test_the_graph_of_three_steps_shows_what_is_kept_and_that_both_weights_use_it() -> None:
    graph = backpropagation_graph(3)
    assert sorted(box.label for box in boxes(graph, "kept")) == ["h₀", "h₁", "h₂", "h₃", "x₁", "x₂", "x₃"]
    said = " ".join(texts(graph))
    assert "∂L/∂W = Σₜ δₜ xₜᵀ" in said
    assert "∂L/∂U = Σₜ δₜ hₜ₋₁ᵀ" in said
    for step in "₁₂₃":
        assert f"δ{step}x{step}ᵀ" in said
    assert "δ₂h₁ᵀ" in said
    assert "δ₃h₂ᵀ" in said
    assert (
        len(lines(graph, "backward")) == 3 + 3 + 2
    )  # from each loss, to each input's product, and from state to state


@pytest.mark.spec(72)
def test_activations_are_drawn_with_their_values_slopes_and_ranges() -> None:
    drawing = activation_curves([sample_activation("tanh"), sample_activation("sigmoid")])
    assert {"tanh", "sigmoid", "-1 … 1", "0 … 1"} <= set(texts(drawing))
    values, slopes = lines(drawing, "value"), lines(drawing, "slope")
    assert len(values) == len(slopes) == 2 + 1  # and the legend
    heights = [y for _, y in values[0].points]
    zero, one = (44.0 + (1.6 - height) / 3.2 * 168.0 for height in (0.0, 1.0))
    assert heights[0] == pytest.approx(zero + (zero - one) * math.tanh(4.0), abs=0.01)
    assert heights[-1] == pytest.approx(zero - (zero - one) * math.tanh(4.0), abs=0.01)
    assert min(y for _, y in slopes[1].points) == pytest.approx(
        zero - (zero - one) * 0.25, abs=0.01
    )  # σ′ is at most 1/4
    assert "tanh: values from -1 to 1, slope at most 1." in drawing.description


@pytest.mark.spec(177)
def test_cells_are_drawn_with_their_own_gates() -> None:
    def names(cell: str) -> set[str]:
        return set(texts(cell_diagram(cell)))

    assert {"forget", "input", "candidate", "output"} <= names("lstm")
    assert "input" not in names("coupled_lstm")
    assert {"reset", "update"} <= names("gru")
    assert "reset" not in names("single_gate")
    assert len(lines(cell_diagram("peephole_lstm"), "peep")) == 3
    assert not lines(cell_diagram("lstm"), "peep")
    assert "hₜ₋₁" in names("min_gru")  # the state is carried,
    assert not any(
        line.points[0][1] == 60.0 and line.points[-1][1] > 180.0
        for line in lines(cell_diagram("min_gru"), "forward")
    )  # but not read


def test_an_unknown_cell_has_no_picture() -> None:
    with pytest.raises(UsageError, match="Did you mean 'lstm'"):
        cell_diagram("lstn")


def test_paths_keep_their_shape_and_the_names_stay_text() -> None:
    trails = [
        Trajectory("<b>", [(0.0, 0.0), (4.0, 1.0)], connected=True),
        Trajectory("ring", [(2.0, 1.0)], shape="ring"),
    ]
    html = draw_trajectories(TrajectoryPlot("A & B", trails), ident="p")
    page = Page(html)
    assert "<b>" in page.text
    assert "b" not in page.names()
    circles = [(float(a["cx"]), float(a["cy"])) for tag, a in page.tags if tag == "circle"]
    (left, low), (right, high) = circles[2:4]  # after the two of the legend
    assert (right - left) / (low - high) == pytest.approx(
        4.0, abs=0.05
    )  # both axes have the same scale, and up is up
