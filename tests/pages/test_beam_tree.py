"""The picture of a beam search: every candidate, its number, and the way to the answer can be read."""

from __future__ import annotations

import re

import pytest

from seqlab.pages.charts.beam_tree import (
    MAX_PER_STEP,
    MAX_STEPS,
    BeamTree,
    Branch,
    beam_tree_diagram,
    beam_tree_rows,
    render_beam_tree,
)
from seqlab.pages.charts.diagram import Box, Line, render_svg
from tests.pages.reading import Page

BRANCHES = [
    Branch(0, -1, 1, "a", -0.5, -0.5, "kept"),
    Branch(1, -1, 1, "b", -1.0, -1.0, "kept"),
    Branch(2, -1, 1, "c", -3.0, -3.0, "pruned"),
    Branch(3, 1, 2, "‹end›", -1.2, -0.6, "ended", rank=1),
    Branch(4, 0, 2, "b", -1.5, -0.75, "cut", rank=2),
    Branch(5, 0, 2, "</svg><script>", -4.0, -2.0, "pruned"),
]
TREE = BeamTree("Search", "x y", BRANCHES)


@pytest.mark.spec(120)
def test_every_candidate_stands_in_the_column_of_its_step_beside_its_parent() -> None:
    drawing = beam_tree_diagram(TREE)
    boxes = {
        (part.label, part.caption): part for part in drawing.parts if isinstance(part, Box) and part.label
    }
    assert {label for label, _ in boxes} == {"‹start›", "a", "b", "c", "① ‹end›", "② b", "</svg><script>"}
    assert {below for _, below in boxes} == {
        "",
        "-0.50",
        "-1.00",
        "-3.00",
        "-1.20, score -0.60",
        "-1.50, score -0.75",
        "-4.00",
    }
    columns = [
        {box.x for (label, _), box in boxes.items() if label in labels}
        for labels in (["a", "c"], ["① ‹end›", "② b"])
    ]
    assert all(len(column) == 1 for column in columns)
    assert max(columns[0]) < min(columns[1])
    places = [(box.x, box.y) for box in boxes.values()]
    assert len(set(places)) == len(places)
    lines = [part for part in drawing.parts if isinstance(part, Line)]
    assert len(lines) == len(BRANCHES)
    assert sorted(line.style for line in lines) == [
        "carried",
        "carried",
        "forward",
        "forward",
        "left_out",
        "left_out",
    ]
    best, last = boxes["b", "-1.00"], boxes["① ‹end›", "-1.20, score -0.60"]
    assert [(best.x + best.width / 2, best.y), (last.x - last.width / 2, last.y)] in [
        line.points for line in lines if line.style == "carried"
    ]


@pytest.mark.spec(120)
def test_the_page_has_the_answers_in_order_and_words_stay_text() -> None:
    page = Page(render_beam_tree(TREE))
    assert "script" not in page.names()
    assert "2 steps, 6 candidates, 4 of them kept. Best hypothesis: b ‹end›." in page.text
    assert page.text.index("b ‹end›") < page.text.index("a b")
    assert re.search(r"<svg[^>]*xmlns", render_svg(beam_tree_diagram(TREE)))


def test_a_token_of_whitespace_has_a_visible_name() -> None:
    words = [" ", "\n", " the", "b"]
    branches = [
        Branch(step, step - 1, step + 1, word, -1.0, -1.0, "kept" if step < 3 else "ended", rank=step // 3)
        for step, word in enumerate(words)
    ]
    page = Page(render_beam_tree(BeamTree("Search", "x y", branches)))
    assert "Best hypothesis: ␣ ↵ ␣the b." in page.text
    assert [
        part.label for part in beam_tree_diagram(BeamTree("", "", branches)).parts if isinstance(part, Box)
    ][1:5] == ["␣", "↵", "␣the", "① b"]


def test_a_long_search_is_cut_where_it_can_no_longer_be_read() -> None:
    many = [
        Branch(step * 100 + place, (step - 1) * 100 if step else -1, step + 1, "w", -place, -place, "kept")
        for step in range(MAX_STEPS + 10)
        for place in range(MAX_PER_STEP + 10 if step < 3 else 1)
    ]
    tree = BeamTree("Long", "", many)
    drawing = beam_tree_diagram(tree)
    assert sum(isinstance(part, Line) for part in drawing.parts) == 3 * MAX_PER_STEP + MAX_STEPS - 3
    assert f"the first {MAX_STEPS} of {MAX_STEPS + 10} steps" in render_beam_tree(tree)


def test_what_is_no_tree_is_refused() -> None:
    with pytest.raises(ValueError, match="parent"):
        BeamTree("", "", [Branch(0, 7, 1, "a", -1.0, -1.0, "kept")])
    empty = beam_tree_diagram(BeamTree("Nothing", "", []))
    assert empty.description == "0 steps, 0 candidates, 0 of them kept."


def long_tree() -> BeamTree:
    branches = [
        Branch(step, step - 1 if step else -1, step + 1, f"w{step}", -1.0, -1.0, "kept")
        for step in range(150)
    ]
    return BeamTree("A long search", "a long source", branches)


def test_an_image_of_a_long_search_has_all_its_steps_in_one_row() -> None:
    drawing = beam_tree_diagram(long_tree())
    assert len([part for part in drawing.parts if isinstance(part, Box) and part.caption]) == 150
    assert drawing.width > 150 * 100  # room for a word and a line at every step


def test_a_page_of_a_long_search_wraps_into_rows_that_fit_and_repeat_the_step_before() -> None:
    rows = beam_tree_rows(long_tree())
    boxes = [[part.label for part in row.parts if isinstance(part, Box) and part.label] for row in rows]
    assert all(row.width <= 1050 for row in rows)
    assert boxes[0][0] == "‹start›"
    assert [row[0] for row in boxes[1:]] == [row[-1] for row in boxes[:-1]]
    assert [label for row in boxes for label in row[1:]] == [f"w{step}" for step in range(150)]
    page = render_beam_tree(long_tree())
    widths = [int(width) for width in re.findall(r'class="scroll"><div style="width: (\d+)px"><svg', page)]
    assert widths == [round(row.width) for row in rows]
    assert len(set(re.findall(r'id="tree\d+-title"', page))) == len(rows)
