"""Charts of sinusoidal positional encodings for selected features, by position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from seqlab.pages.charts.diagram import Diagram, DiagramPart, Label, Line

WIDTH, HEIGHT = 620.0, 120.0
LEFT, TOP, PANEL_GAP = 40.0, 40.0, 62.0


def position_curves(features: Mapping[int, Sequence[float]]) -> Diagram:
    """One panel for every pair of features 2j and 2j + 1, which differ by a quarter period; each feature
    is given by position.
    """
    pairs = sorted({feature // 2 for feature in features})
    length = max(len(values) for values in features.values())
    parts: list[DiagramPart] = []
    for row, pair in enumerate(pairs):
        parts += _panel(
            features[2 * pair], features[2 * pair + 1], first=2 * pair, top=TOP + row * (HEIGHT + PANEL_GAP)
        )
    bottom = TOP + len(pairs) * (HEIGHT + PANEL_GAP) - PANEL_GAP
    parts.append(Label(LEFT + WIDTH / 2, bottom + 32.0, "position", muted=True))
    description = (
        f"Features {', '.join(map(str, sorted(features)))} of sinusoidal positions over {length}"
        " positions: the two features of a panel are the same "
    )
    description += "wave shifted by a quarter period, and the wavelength grows from panel to panel."
    return Diagram("Sinusoidal positions", description, LEFT + WIDTH + 20.0, bottom + 44.0, parts)


def _panel(even: Sequence[float], odd: Sequence[float], *, first: int, top: float) -> Iterator[DiagramPart]:
    def to_point(index: float, value: float) -> tuple[float, float]:
        return LEFT + index / (len(even) - 1) * WIDTH, top + (1.0 - value) / 2.0 * HEIGHT

    yield Line([(LEFT, top - 16.0), (LEFT + 26.0, top - 16.0)], style="value", arrow=False)
    yield Label(LEFT + 32.0, top - 12.0, f"feature {first}: sine", anchor="start", muted=True)
    yield Line([(LEFT + 140.0, top - 16.0), (LEFT + 166.0, top - 16.0)], style="slope", arrow=False)
    yield Label(LEFT + 172.0, top - 12.0, f"feature {first + 1}: cosine", anchor="start", muted=True)
    for value in (-1.0, 0.0, 1.0):
        y = to_point(0, value)[1]
        yield Line([(LEFT, y), (LEFT + WIDTH, y)], style="axis", arrow=False)
        yield Label(LEFT - 6.0, y + 4.0, f"{value:g}", anchor="end", muted=True)
    for index in range(0, len(even), 20):
        yield Label(to_point(index, 0.0)[0], top + HEIGHT + 16.0, str(index), muted=True)
    yield Line([to_point(index, value) for index, value in enumerate(odd)], style="slope", arrow=False)
    yield Line([to_point(index, value) for index, value in enumerate(even)], style="value", arrow=False)
