"""Writes the pictures of attention scores and non-local networks, with numbers from the layers themselves: `python
docs/attention_pictures.py`. A test compares the two.

Weights are set by hand and computed in float64, so every machine draws the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from seqlab.attention.attend import Attention
from seqlab.attention.base import ScoreFunction
from seqlab.attention.concat import ConcatScore
from seqlab.attention.dot import DotScore
from seqlab.attention.general import GeneralScore
from seqlab.attention.non_local import NonLocalBlock
from seqlab.attention.recording import record_alignments
from seqlab.attention.scaled_dot import Divisor, ScaledDotScore
from seqlab.blocks.image import RowsToImage
from seqlab.models.images.convolutional import ConvolutionalImageBackbone
from seqlab.models.settings.images import ImageConvolutionalSettings
from seqlab.pages.charts.diagram import Box, Diagram, DiagramPart, Label, Line, render_svg, to_svg_file
from seqlab.pages.charts.shading import opacity
from seqlab.pages.html import Markup, tag

FOLDER = Path(__file__).parent / "pictures"
KEYS = ((2.0, 0.5), (-1.0, 1.5))
"""Two keys with two features; queries are all points of the plane around them."""
REACH, CELLS, CELL = 2.8, 15, 13.0
"""The plane from -REACH to REACH in both directions, in so many cells of so many pixels."""
LEFT, TOP, GAP = 22.0, 34.0, 30.0


def pictures() -> dict[Path, str]:
    """Every picture by the file it belongs in."""
    drawings = {"scaled_scores": scaled_scores(), "non_local": non_local(), "non_local_net": non_local_net()}
    return {FOLDER / f"{name}.svg": render_svg(drawing) for name, drawing in drawings.items()} | {
        FOLDER / f"score_{name}.svg": to_svg_file(score_surface(name))
        for name in ("dot", "general", "concat")
    }


def score_of(name: str) -> ScoreFunction:
    """dot; general, whose W turns a key by 90 degrees; concat, whose W adds query and key."""
    if name == "dot":
        return DotScore(2, 2)
    if name == "general":
        general = GeneralScore(2, 2)
        general.load_state_dict({"project_key.weight": torch.tensor([[0.0, -1.0], [1.0, 0.0]])})
        return general
    concat = ConcatScore(2, 2)
    sum_of_both = torch.tensor([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    concat.load_state_dict({"project.weight": sum_of_both, "energy.weight": torch.tensor([[1.0, 1.0]])})
    return concat


def query_plane() -> Tensor:
    """The centers of the cells, row by row from the top left: (1, cells², 2)."""
    centers = torch.linspace(-REACH, REACH, CELLS, dtype=torch.float64)
    return torch.stack([centers.repeat(CELLS), centers.flip(0).repeat_interleave(CELLS)], dim=-1).unsqueeze(0)


@torch.no_grad()
def surfaces(name: str) -> tuple[Tensor, Tensor]:
    """Scores (cells², 2) of every query with both keys, and their attention weights."""
    score, keys = score_of(name).double(), torch.tensor([KEYS], dtype=torch.float64)
    _, alignment = Attention(score)(query_plane(), keys)
    return score(query_plane(), keys)[0], alignment[0]


def score_surface(name: str) -> Markup:
    """Three planes of queries: their scores with either key, and the weight of the first."""
    scores, weights = surfaces(name)
    largest = scores.abs().max().item()
    panels = [
        ("score(q, k₁)", (scores[:, 0] / largest).tolist(), 1),
        ("score(q, k₂)", (scores[:, 1] / largest).tolist(), 2),
        ("weight of k₁", weights[:, 0].tolist(), 0),
    ]
    width, height = LEFT + 3 * (CELLS * CELL + GAP), TOP + CELLS * CELL + 34.0
    description = (
        f"The score {name} for all queries of a plane. Scores reach from {scores.min():.1f} to"
        f" {scores.max():.1f}: blue above zero, orange below. In the third panel the weight of the first key is"
        " stronger in color where it is larger."
    )
    caption = f"each cell is a query; blue: above 0, orange: below; full color: ±{largest:.1f}, a weight of 1"
    return tag(
        "svg",
        tag("title", f"The score {name} over a plane of queries", id=f"{name}-title"),
        tag("desc", description, id=f"{name}-desc"),
        *[
            tag(
                "g",
                *_plane(title, values, key),
                transform=f"translate({LEFT + index * (CELLS * CELL + GAP):g} {TOP:g})",
            )
            for index, (title, values, key) in enumerate(panels)
        ],
        tag("text", caption, x=LEFT, y=height - 10, class_="quiet"),
        viewBox=f"0 0 {width:g} {height:g}",
        width=round(width),
        height=round(height),
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def _plane(title: str, values: Sequence[float], key: int) -> Iterator[Markup]:
    """A cell for every query, and the keys where they are; key: the one that is scored, 0 for both."""
    side = CELLS * CELL
    yield tag("text", title, x=side / 2, y=-12.0, text_anchor="middle", class_="strong")
    for sign, color in ((1, "c0"), (-1, "c1")):
        cells = [
            tag(
                "rect",
                x=CELL * (index % CELLS),
                y=CELL * (index // CELLS),
                width=CELL,
                height=CELL,
                fill_opacity=f"{opacity(abs(value)):.2f}",
            )
            for index, value in enumerate(values)
            if sign * value > 0
        ]
        yield tag("g", *cells, style=f"fill: var(--{color})")
    yield tag("rect", x=0.0, y=0.0, width=side, height=side, style="fill: none; stroke: var(--rule)")
    for number, (x, y) in enumerate(KEYS, start=1):
        if key in (0, number):
            yield _mark(
                side / 2 + x / REACH * (side - CELL) / 2, side / 2 - y / REACH * (side - CELL) / 2, number
            )


def _mark(x: float, y: float, number: int) -> Markup:
    style = "fill: var(--ground); stroke: var(--ink); stroke-width: 1.2"
    return tag(
        "g",
        tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=11.0, style=style),
        tag("text", f"k{'₀₁₂'[number]}", x=f"{x:.1f}", y=f"{y + 4.5:.1f}", text_anchor="middle"),
    )


WIDTH, NUM_KEYS = 64, 16
DIVISORS: dict[str, Divisor] = {"q · k": "none", "q · k / √d": "sqrt", "q · k / d": "size"}


@torch.no_grad()
def scaled_weights() -> dict[str, list[float]]:
    """The attention weights of one random query over 16 random keys of 64 features, by divisor, largest first."""
    rng = random.Random(4)  # noqa: S311 (not for secrets)
    query, *keys = [[rng.gauss(0, 1) for _ in range(WIDTH)] for _ in range(NUM_KEYS + 1)]
    tensors = [torch.tensor([steps], dtype=torch.float64) for steps in ([query], keys)]
    return {
        name: Attention(ScaledDotScore(WIDTH, WIDTH, divisor=divisor))(*tensors)[1][0, 0]
        .sort(descending=True)
        .values.tolist()
        for name, divisor in DIVISORS.items()
    }


def scaled_scores() -> Diagram:
    """The same scores with three divisors."""
    parts: list[DiagramPart] = []
    for row, (name, weights) in enumerate(scaled_weights().items()):
        bottom = 104.0 + 96.0 * row
        parts.append(Label(104.0, bottom - 24.0, name, anchor="end", bold=True))
        parts.append(Line([(118.0, bottom), (614.0, bottom)], style="axis", arrow=False))
        for place, weight in enumerate(weights):
            x, height = 134.0 + 31.0 * place, round(70.0 * weight, 1)
            if height >= 1:
                parts.append(Box(x, bottom - height / 2, "", kind="state", width=22.0, height=height))
            parts.append(Label(x, bottom - height - 5.0, f"{weight:.2f}".removeprefix("0"), muted=True))
    parts.append(Label(366.0, 318.0, "16 keys, largest weight first", muted=True))
    return Diagram(
        "Attention weights with three divisors",
        "One random query over 16 random keys with 64 features. Unscaled, nearly all weight is on one key; divided"
        " by the square root of the width, it is spread over several; divided by the width, it is nearly uniform.",
        630.0,
        334.0,
        parts,
    )


FRAMES, ROWS, COLUMNS = 3, 4, 5
BALL_PATH = ((2, 0), (1, 2), (0, 4))
"""Row and column of the ball in every frame."""
BALL, GROUND = (2.5, 0.0), (0.0, 1.5)
"""The two features of a position."""
QUERIES = {"query: the ball": (0, 2, 0), "query: the ground": (0, 0, 0)}


def video() -> Tensor:
    """(1, frames, rows, columns, 2)."""
    features = torch.tensor(GROUND, dtype=torch.float64).repeat(1, FRAMES, ROWS, COLUMNS, 1)
    for frame, (row, column) in enumerate(BALL_PATH):
        features[0, frame, row, column] = torch.tensor(BALL, dtype=torch.float64)
    return features


@torch.no_grad()
def non_local_weights() -> Tensor:
    """The rows of A for QUERIES: (queries, frames, rows, columns)."""
    block = NonLocalBlock(2, inner_size=2).double()
    for layer in (block.theta, block.attention.key):
        assert isinstance(layer, nn.Linear)
        nn.init.eye_(layer.weight)
    with record_alignments(block) as alignments:
        block(video())
    (alignment,) = alignments["attention"]
    weights = alignment[0, 0].view(FRAMES, ROWS, COLUMNS, FRAMES, ROWS, COLUMNS)
    return torch.stack([weights[place] for place in QUERIES.values()])


def non_local() -> Diagram:
    """A toy video, and two rows of its attention matrix laid out as frames."""
    parts: list[DiagramPart] = []
    maps = {"the video": None, **dict(zip(QUERIES, non_local_weights().tolist(), strict=True))}
    for line, (name, weights) in enumerate(maps.items()):
        top = 46.0 + 150.0 * line
        parts.append(Label(158.0, top + 46.0, name, anchor="end", bold=not line))
        for frame in range(FRAMES):
            left = 186.0 + 150.0 * frame
            if not line:
                parts.append(Label(left + 48.0, 24.0, f"frame {frame + 1}", muted=True))
            for row in range(ROWS):
                for column in range(COLUMNS):
                    x, y = left + 25.0 * column, top + 25.0 * row
                    is_ball = BALL_PATH[frame] == (row, column)
                    weight = weights[frame][row][column] if weights else 0.0
                    is_query = bool(line) and list(QUERIES.values())[line - 1] == (frame, row, column)
                    kind = (
                        "gate" if is_query else "state" if weight > 0.1 or (not line and is_ball) else "plain"
                    )
                    parts.append(
                        Box(x, y, _percent(weight) if line else "", kind=kind, width=22.0, height=22.0)
                    )
    parts.append(Label(330.0, 478.0, "weights in percent; orange: the query", muted=True))
    return Diagram(
        "Attention of a non-local block over a video",
        "Every position of three frames attends to all 60 positions. The ball in frame 1 finds itself in all frames;"
        " a position of the ground spreads its weights over the ground.",
        620.0,
        492.0,
        parts,
    )


def _percent(weight: float) -> str:
    return f"{100 * weight:.0f}"


SIDE = 9


def reach(*, has_block: bool) -> list[list[bool]]:
    """Which pixels the first position of the features after one stage depends on.

    Kernels are positive and norms are left out, since a norm averages over the image.
    """
    settings = ImageConvolutionalSettings(layers=1, hidden_size=2, dropout=0.0, non_local=has_block)
    network = ConvolutionalImageBackbone.from_settings(
        settings, RowsToImage(height=SIDE, width=SIDE)
    ).double()
    for parameter in network.parameters():
        nn.init.constant_(parameter, 0.1)
    for name, module in list(network.named_modules()):
        if isinstance(module, nn.GroupNorm):
            parent, _, child = name.rpartition(".")
            setattr(network.get_submodule(parent), child, nn.Identity())
    image = torch.ones(1, 1, SIDE, SIDE, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(network(image)[0, 0].sum(), image)
    return (gradient[0, 0] != 0).tolist()


def non_local_net() -> Diagram:
    """The stages of the network, and what one position sees without and with the block."""
    names = (
        ("image", "input"),
        ("stage 1", "state"),
        ("non-local", "gate"),
        ("stage 2", "state"),
        ("mean", "plain"),
        ("classes", "output"),
    )
    parts: list[DiagramPart] = []
    for index, (name, kind) in enumerate(names):
        x = 60.0 + 104.0 * index
        parts.append(Box(x, 36.0, name, kind=kind, width=78.0))  # type: ignore[arg-type]  # a literal
        if index:
            parts.append(Line([(x - 65.0, 36.0), (x - 39.0, 36.0)]))
    for panel, has_block in enumerate((False, True)):
        left = 140.0 + 240.0 * panel
        title = "stage 1 and the block" if has_block else "stage 1 alone"
        parts.append(Label(left + 80.0, 94.0, title, bold=True))
        for row, line in enumerate(reach(has_block=has_block)):
            for column, is_seen in enumerate(line):
                kind = "gate" if row == column == 0 else "state" if is_seen else "plain"
                parts.append(
                    Box(left + 20.0 * column, 118.0 + 20.0 * row, "", kind=kind, width=17.0, height=17.0)
                )  # type: ignore[arg-type]
    parts.append(Label(330.0, 312.0, "blue: the pixels that the orange position depends on", muted=True))
    return Diagram(
        "A non-local network and what one position sees",
        "Image, first stage, non-local block, second stage, mean over positions, classes. After the first stage, the"
        " first position depends on 3 by 3 pixels in its corner; after the block, on all 81 pixels.",
        660.0,
        326.0,
        parts,
    )


if __name__ == "__main__":
    for path, text in pictures().items():
        path.write_text(text, encoding="utf-8")
