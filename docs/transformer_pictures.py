"""Writes the pictures of the parts of a Transformer layer, with numbers from the layers themselves: `python
docs/transformer_pictures.py`. A test compares the two.

Weights are set by hand and computed in float64, so every machine draws the same; pictures/rezero_scales.json is of
rezero_scales.py.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from seqlab.blocks.feed_forward import FeedForward
from seqlab.blocks.norm import NormKind, build_norm
from seqlab.blocks.residual import NormalizedSkip, NormedResidual, PreNorm
from seqlab.pages.charts.diagram import (
    Box,
    Diagram,
    DiagramPart,
    Label,
    Line,
    Operator,
    render_svg,
    to_svg_file,
)
from seqlab.pages.charts.number_grids import NumberGrid, draw_number_grids
from seqlab.pages.html import Markup

FOLDER = Path(__file__).parent / "pictures"


def pictures() -> dict[Path, str]:
    """Every picture by the file it belongs in."""
    return {
        FOLDER / "feed_forward.svg": to_svg_file(feed_forward()),
        FOLDER / "norms.svg": to_svg_file(norms()),
        FOLDER / "rezero.svg": render_svg(rezero()),
        FOLDER / "lecture_pre_norm.svg": render_svg(lecture_pre_norm()),
    }


WORDS = ("the", "dog", "saw", "the", "cat")
CHANGED = 2
"""The step whose input changes between the two lines of the picture."""


@torch.no_grad()
def feed_forward_steps() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The steps (5, 3) of two sentences that differ in one word, and what the network makes of each."""
    rng = random.Random(1)  # noqa: S311 (not for secrets)

    def draw(rows: int, columns: int) -> Tensor:
        return torch.tensor(
            [[rng.gauss(0, 1) for _ in range(columns)] for _ in range(rows)], dtype=torch.float64
        )

    layer = FeedForward(3, inner_size=12, activation="relu", dropout=0.0).double()
    layer.expand.weight.copy_(draw(12, 3))
    layer.contract.weight.copy_(draw(3, 12) / 3)
    embeddings = dict(zip((*sorted(set(WORDS)), "bit"), draw(5, 3), strict=True))
    first = torch.stack([embeddings[word] for word in WORDS])
    second = first.clone()
    second[CHANGED] = embeddings["bit"]
    return first, layer(first), second, layer(second)


def feed_forward() -> Markup:
    """Equal steps have equal outputs, and a changed step changes its own output only."""
    first, first_output, second, second_output = feed_forward_steps()
    changed = [*WORDS[:CHANGED], "bit", *WORDS[CHANGED + 1 :]]
    lines = [
        [_grid("x", WORDS, first), _grid("FFN(x)", WORDS, first_output, sign="→")],
        [
            _grid("x′", changed, second),
            _grid("FFN(x′)", changed, second_output, sign="→"),
            _grid("FFN(x′) − FFN(x)", changed, second_output - first_output),
        ],
    ]
    description = (
        "Five steps with three features and their outputs. Both 'the' have the same output; replacing 'saw' by 'bit'"
        " changes the third row of the output only."
    )
    return draw_number_grids(
        "The feed-forward network acts on every step alone",
        lines,
        ident="feed_forward",
        description=description,
    )


def _grid(title: str, rows: Sequence[str], values: Tensor, *, sign: str = "") -> NumberGrid:
    columns = [str(number) for number in range(1, values.shape[1] + 1)]
    return NumberGrid(title, list(rows), columns, values.tolist(), sign)


VECTORS = {"x": (3.0, 4.0, 0.0, 1.0), "10 x": (30.0, 40.0, 0.0, 10.0), "x + 5": (8.0, 9.0, 5.0, 6.0)}


@torch.no_grad()
def normalized(kind: NormKind) -> Tensor:
    """The vectors after a norm, each with its mean and its root mean square: (3, 6)."""
    vectors = torch.tensor(list(VECTORS.values()), dtype=torch.float64)
    return with_statistics(build_norm(kind, 4, eps=1e-12).double()(vectors))


def with_statistics(vectors: Tensor) -> Tensor:
    return torch.cat(
        [vectors, vectors.mean(dim=1, keepdim=True), vectors.square().mean(dim=1, keepdim=True).sqrt()], dim=1
    )


def norms() -> Markup:
    """What LayerNorm and RMSNorm make of a vector, of ten times it, and of it shifted."""
    columns = ["x₁", "x₂", "x₃", "x₄", "mean", "RMS"]
    inputs = with_statistics(torch.tensor(list(VECTORS.values()), dtype=torch.float64))
    grids = {"input": inputs, "LayerNorm": normalized("layer"), "RMSNorm": normalized("rms")}
    lines = [[NumberGrid(name, list(VECTORS), columns, values.tolist())] for name, values in grids.items()]
    description = (
        "A vector of four features, ten times the vector, and the vector plus five. LayerNorm gives the same result"
        " for all three, with a mean of 0 and a root mean square of 1. RMSNorm ignores the factor but not the shift."
    )
    return draw_number_grids("LayerNorm and RMSNorm", lines, ident="norms", description=description)


LEFT, TOP, WIDTH, HEIGHT = 44.0, 56.0, 250.0, 170.0


def rezero() -> Diagram:
    """How far a new stack moves its input, and how α grows in training."""
    kept = json.loads((FOLDER / "rezero_scales.json").read_text(encoding="utf-8"))
    parts: list[DiagramPart] = [
        Label(LEFT + WIDTH / 2, 22.0, "a new stack: ‖x_l − x₀‖ / ‖x₀‖", bold=True),
        Label(LEFT + WIDTH + 70.0 + WIDTH / 2, 22.0, "α during training, 6 layers", bold=True),
    ]
    changes = {"pre-LN": [kept["changes"]["pre"]], "ReZero": [kept["changes"]["rezero"]]}
    parts += panel(LEFT, changes, "layer", len(kept["changes"]["pre"]) - 1)
    scales = {"attention": kept["attention"], "feed-forward": kept["feed_forward"]}
    parts += panel(LEFT + WIDTH + 70.0, scales, "update", kept["updates"][-1])
    return Diagram(
        "ReZero before and during training",
        "A new stack with ReZero leaves its input as it is at any depth, whereas pre-LN moves it further with every"
        " layer. In training each path's α starts at 0 and moves away from it.",
        LEFT + 2 * WIDTH + 90.0,
        TOP + HEIGHT + 50.0,
        parts,
    )


def panel(
    left: float, families: dict[str, list[list[float]]], x_label: str, last_x: int
) -> Iterator[DiagramPart]:
    """Families of curves from 0 on; each family has its own style, named above the frame."""
    values = [value for curves in families.values() for curve in curves for value in curve]
    low, high = min(values), max(values)

    def to_y(value: float) -> float:
        return round(TOP + (high - value) / (high - low) * HEIGHT, 1)

    for value in sorted({low, 0.0, high}):
        yield Line([(left, to_y(value)), (left + WIDTH, to_y(value))], style="axis", arrow=False)
        yield Label(left - 6.0, to_y(value) + 4.0, f"{value:.2g}".replace("-", "−"), anchor="end", muted=True)
    for share in (0.0, 0.5, 1.0):
        yield Label(left + share * WIDTH, TOP + HEIGHT + 18.0, f"{share * last_x:g}", muted=True)
    yield Label(left + WIDTH / 2, TOP + HEIGHT + 38.0, x_label, muted=True)
    for index, (name, curves) in enumerate(families.items()):
        style = "slope" if index else "value"
        x = left + 130.0 * index
        yield Line([(x, 42.0), (x + 22.0, 42.0)], style=style, arrow=False)
        yield Label(x + 28.0, 46.0, name, anchor="start", muted=True)
        for curve in curves:
            xs = [round(left + place / (len(curve) - 1) * WIDTH, 1) for place in range(len(curve))]
            yield Line(list(zip(xs, map(to_y, curve), strict=True)), style=style, arrow=False)


X = (4.0, 0.0, 8.0, 0.0)
"""The step that goes through both versions, with a sub-layer that multiplies by ten."""


@torch.no_grad()
def path_values(path: NormedResidual) -> tuple[list[float], list[float]]:
    """What the residual path carries around the sub-layer, and the sum."""
    steps = torch.tensor([[X]], dtype=torch.float64)
    inner = path.double().before_sublayer(steps)
    total = path.after_sublayer(steps, inner, 10 * inner)
    return (total - 10 * inner)[0, 0].tolist(), total[0, 0].tolist()


def lecture_pre_norm() -> Diagram:
    """The first half of a layer in both versions, with the numbers of one step."""
    versions = {
        "pre-LN": (PreNorm(nn.LayerNorm(4), dropout=0.0), 316.0),
        "the lecture's pre-LN": (NormalizedSkip(nn.LayerNorm(4), dropout=0.0), 222.0),
    }
    parts: list[DiagramPart] = []
    for column, (name, (path, branch)) in enumerate(versions.items()):
        x = 110.0 + 330.0 * column
        carried, total = path_values(path)
        parts += [Label(x + 40.0, 24.0, name, bold=True), Label(x, 356.0, f"x = {_numbers(X)}", muted=True)]
        parts += [
            Line([(x, 340.0), (x, 282.0)]),
            Box(x, 266.0, "norm", kind="gate", width=104.0),
            Line([(x, 250.0), (x, 188.0)]),
            Box(x, 172.0, "attention", kind="state", width=104.0),
            Line([(x, 156.0), (x, 101.0)]),
            Line([(x, branch), (x + 82.0, branch), (x + 82.0, 90.0), (x + 11.0, 90.0)], style="carried"),
            Operator(x, 90.0, "+"),
            Line([(x, 79.0), (x, 62.0)]),
            Label(x, 52.0, _numbers(total), muted=True),
            Label(x + 90.0, 130.0, "carried:", anchor="start", muted=True),
            Label(x + 90.0, 148.0, _numbers(carried), anchor="start", muted=True),
        ]
    return Diagram(
        "Where the residual path begins",
        "Pre-LN carries x itself around norm and attention. The lecture's version carries norm(x), because the"
        " normalized value has overwritten x: its scale is lost.",
        680.0,
        372.0,
        parts,
    )


def _numbers(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.1f}".removesuffix(".0").replace("-", "−") for value in values) + ")"


if __name__ == "__main__":
    for path, text in pictures().items():
        path.write_text(text, encoding="utf-8")
