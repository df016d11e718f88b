from __future__ import annotations

from seqlab.pages.charts.image_attention import AttentionView, ImageAttentionMap, draw_image_attention


def test_a_spotlight_lets_through_what_was_looked_at() -> None:
    white, red = (1.0, 1.0, 1.0), (1.0, 0.0, 0.0)
    lights = ImageAttentionMap(
        "A look",
        [[white, white, red], [white, red, red]],
        [AttentionView("image"), AttentionView("red", [[0.0, 0.25, 0.75]])],
    )
    drawing = draw_image_attention(lights, ident="x")
    assert drawing.count("#ffffff") == drawing.count("#ff0000") == 2  # one strip each in the two rows
    assert drawing.count('href="#x-image"') == 2
    assert [part.split('"')[0] for part in drawing.split('fill-opacity="')[1:]] == ["0.8", "0.53", "0"]
    assert "red: row 1, column 3 (75%)." in drawing
