"""Pictures of who looks where: every weight is in them, and user text stays text."""

from __future__ import annotations

import re

import pytest

from seqlab.pages.charts.attention_map import AttentionMap, draw_attention_map
from seqlab.pages.charts.diagram import to_svg_file
from seqlab.pages.charts.number_grids import NumberGrid, draw_number_grids
from seqlab.pages.charts.token_heatmap import HeatmapRow, TokenHeatmap, draw_token_heatmap
from tests.pages.reading import Page

WEIGHTS = [[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
HOSTILE = "</svg><script>"


def opacities(svg: str) -> list[float]:
    return [float(found) for found in re.findall(r"fill-opacity: ([\d.]+)", svg)]


def test_every_weight_of_a_map_can_be_read_and_darker_is_more() -> None:
    svg = draw_attention_map(
        AttentionMap("Who", ["a", "b"], ["x", "y", "z"], WEIGHTS, show_weights=True), ident="m"
    )
    page = Page(svg)
    for words in (
        "a attends to x: 0.250",
        "a attends to y: 0.750",
        "a attends to z: 0.000",
        "b attends to z: 1.000",
        "0.25",
        "0.75",
    ):
        assert words in page.text
    small, large, whole = opacities(svg)  # only weights above 0 have a square
    assert 0 < small < large < whole == 1.0
    assert "a attends most to y (75%); b attends most to z (100%)." in page.text


@pytest.mark.spec(178)
def test_every_square_of_a_map_is_in_the_row_of_who_looks_and_the_column_of_what_is_looked_at() -> None:
    """The words beside the rows and above the columns say where a square has to be."""
    svg = draw_attention_map(
        AttentionMap("Who", ["a", "b"], ["x", "y", "z"], [[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]]), ident="m"
    )
    heights = {
        name: float(y) for y, name in re.findall(r'<text x="[^"]*" y="([\d.]+)"[^>]*>([ab])</text>', svg)
    }
    places = {name: float(x) for x, name in re.findall(r'<text x="([\d.]+)"[^>]*>([xyz])</text>', svg)}
    squares = re.findall(
        r'<title>([ab]) attends to ([xyz]): ([\d.]+)</title><rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"',
        svg,
    )
    assert len(squares) == 6
    for looking, looked_at, _, x, y, width, height in squares:
        assert float(y) < heights[looking] < float(y) + float(height)
        assert float(x) < places[looked_at] < float(x) + float(width)
    assert [float(weight) for _, _, weight, *_ in squares] == [0.2, 0.3, 0.5, 0.1, 0.6, 0.3]


def test_without_numbers_a_map_writes_only_words() -> None:
    svg = draw_attention_map(AttentionMap("Who", ["a", "b"], ["x", "y", "z"], WEIGHTS), ident="m")
    assert re.findall(r"<text[^>]*>([^<]*)</text>", svg) == ["Who", "a", "b", "x", "y", "z"]


@pytest.mark.parametrize(
    ("looking", "looked_at", "match"),
    [(["a"], ["x", "y", "z"], "rows"), (["a", "b"], ["x"], "rows of 1"), (["a"] * 81, ["x"], "at most 80")],
)
def test_a_map_that_does_not_fit_is_refused(looking: list[str], looked_at: list[str], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        AttentionMap("", looking, looked_at, WEIGHTS if len(looking) < 3 else [[1.0]] * 81)


@pytest.mark.spec(179)
def test_the_strongest_token_of_a_strip_is_the_darkest_and_its_weight_is_named() -> None:
    strips = TokenHeatmap(
        "Text",
        ["red", " ", "blue"],
        [HeatmapRow("head 1", [0.1, 0.2, 0.05]), HeatmapRow("head 2", [0.0, 0.0, 0.0])],
        query_index=2,
    )
    svg = draw_token_heatmap(strips, ident="s")
    shown = opacities(svg)
    assert shown == pytest.approx(
        [0.5, 1.0, 0.25, 0.0, 0.0, 0.0], abs=1e-3
    )  # each beside the strongest of its own strip
    text = Page(svg).text
    assert "maximum 0.20" in text
    assert "highest weight on ␣ (0.20); head 2: nothing." in text
    assert "blue: 0.050" in text
    assert svg.count("stroke-width: 2") == 2  # the frame of the token that asks, once in each strip


def test_a_long_text_goes_on_in_the_next_line_and_every_token_stays() -> None:
    tokens = [f"word{number}" for number in range(40)]
    svg = draw_token_heatmap(
        TokenHeatmap("Text", tokens, [HeatmapRow("head", [1 / 40] * 40)]), ident="s", width=400.0
    )
    boxes = [(float(x), float(y)) for x, y in re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', svg)]
    assert len(boxes) == len(set(boxes)) == 40
    assert len({y for _, y in boxes}) > 5
    width = float(re.findall(r'viewBox="0 0 ([\d.]+)', svg)[0])
    assert width <= 400.0 + 20
    assert re.findall(r"<text[^>]*>(word\d+)</text>", svg) == tokens


def test_strips_with_missing_weights_are_refused() -> None:
    with pytest.raises(ValueError, match=r"2 tokens.*head 7"):
        TokenHeatmap("", ["a", "b"], [HeatmapRow("head 7", [1.0])])


def test_matrices_show_their_numbers_in_the_colour_of_their_sign() -> None:
    svg = draw_number_grids(
        "Sum",
        [[NumberGrid("a", ["r"], ["1", "2"], [[1.5, -3.0]]), NumberGrid("b", ["r"], ["1"], [[-0.001]], "+")]],
        ident="g",
        description="",
    )
    assert re.findall(r"var\(--(c\d)\); fill-opacity: ([\d.]+)", svg) == [
        ("c0", "0.660"),
        ("c1", "1.000"),
        ("c1", "1.000"),
    ]
    assert re.findall(r"<text[^>]*>([^<]*)</text>", svg) == [
        "a",
        "1",
        "2",
        "r",
        "1.50",
        "−3.00",
        "b",
        "+",
        "1",
        "r",
        "0.00",
    ]
    with pytest.raises(ValueError, match="'c' needs 1 rows of 2 numbers"):
        NumberGrid("c", ["r"], ["1", "2"], [[1.0]])


def test_user_text_stays_text_and_a_file_has_its_own_colours() -> None:
    drawn = [
        draw_attention_map(AttentionMap(HOSTILE, [HOSTILE], ["\x1b"], [[1.0]]), ident="m"),
        draw_token_heatmap(
            TokenHeatmap(HOSTILE, [HOSTILE, "\u202e"], [HeatmapRow(HOSTILE, [1.0, 0.0])]), ident="s"
        ),
    ]
    for svg in drawn:
        page = Page(svg)  # well formed
        assert "script" not in page.names()
        assert "\x1b" not in svg
        assert "\u202e" not in svg
        file = to_svg_file(svg)
        assert file.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
        assert "--c0:" in file
        assert "prefers-color-scheme: dark" in file
