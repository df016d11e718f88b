from __future__ import annotations

from seqlab.pages.charts.image_attention import Look, Spotlights, draw_spotlights


def test_a_spotlight_lets_through_what_was_looked_at() -> None:
    white, red = (1.0, 1.0, 1.0), (1.0, 0.0, 0.0)
    lights = Spotlights("A look", [[white, white, red], [white, red, red]], [Look("picture"), Look("red", [[0.0, 0.25, 0.75]])])
    drawing = draw_spotlights(lights, ident="x")
    assert drawing.count("#ffffff") == drawing.count("#ff0000") == 2  # one strip each in the two rows
    assert drawing.count('href="#x-picture"') == 2
    assert [part.split('"')[0] for part in drawing.split('fill-opacity="')[1:]] == ["0.8", "0.53", "0"]
    assert "red: row 1, column 3 (75 %)." in drawing
