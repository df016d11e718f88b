"""Writes the pictures that only the concept pages use: `python docs/concept_pictures.py`. A test compares the
two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from seqlab.inspection.scalar_study import scalar_curves
from seqlab.pages.charts.diagram import Box, Diagram, DiagramPart, Label, Line, Operator, render_svg
from seqlab.training.schedule import constant_warmup, cosine_warmup

FOLDER = Path(__file__).parent / "pictures"
LEFT, TOP, WIDTH, HEIGHT = 56.0, 30.0, 420.0, 190.0
STYLES = ("value", "slope", "peep")


def pictures() -> dict[Path, str]:
    """Every picture by the file it belongs in."""
    drawings = {
        "gradient_powers": gradient_powers(),
        "encoder_decoder": encoder_decoder(),
        "transformer_layer": transformer_layer(),
        "learning_rates": learning_rates(),
        "masked_tokens": masked_tokens(),
        "masks": masks(),
        "alignment_kinds": alignment_kinds(),
        "fine_tuning": fine_tuning(),
        "intervals": intervals(),
    }
    return {FOLDER / f"{name}.svg": render_svg(drawing) for name, drawing in drawings.items()}


def gradient_powers() -> Diagram:
    """What one weight does to a gradient, by distance, on a logarithmic scale."""
    curves = {
        f"slope · w = {curve.weight:g}": [math.log10(factor) for factor in curve.factors]
        for curve in scalar_curves((1.1, 1.0, 0.9))
    }
    marks = {-2.0: "0.01", -1.0: "0.1", 0.0: "1", 1.0: "10", 2.0: "100"}
    return Diagram(
        "The gradient after many steps",
        "The same factor multiplied again and again: 1.1 grows past 100 within 50 steps, 1 stays, 0.9 falls"
        " below 0.01.",
        LEFT + WIDTH + 150.0,
        TOP + HEIGHT + 48.0,
        list(line_panel(curves, marks, x_label="distance in steps", last_x=50)),
    )


def learning_rates() -> Diagram:
    """Two schedules of 1,000 updates, with a warm-up of 100."""
    steps = range(0, 1001, 10)
    curves = {
        "cosine": [cosine_warmup(step, warmup_steps=100, decay_steps=1000) for step in steps],
        "constant": [constant_warmup(step, warmup_steps=100) for step in steps],
    }
    return Diagram(
        "Learning-rate schedules",
        "The share of the peak learning rate over 1,000 updates: a warm-up of 100 updates followed by a cosine"
        " decay or by a constant rate.",
        LEFT + WIDTH + 150.0,
        TOP + HEIGHT + 48.0,
        list(line_panel(curves, {0.0: "0", 0.5: "0.5", 1.0: "1"}, x_label="update", last_x=1000)),
    )


def line_panel(
    curves: Mapping[str, Sequence[float]], marks: Mapping[float, str], *, x_label: str, last_x: int
) -> Iterator[DiagramPart]:
    """Curves in one frame; each has its name at its end or, where ends meet, below the one before."""
    low, high = min(marks), max(marks)

    def to_y(value: float) -> float:
        return TOP + (high - value) / (high - low) * HEIGHT

    for value, text in marks.items():
        yield Line([(LEFT, to_y(value)), (LEFT + WIDTH, to_y(value))], style="axis", arrow=False)
        yield Label(LEFT - 6.0, to_y(value) + 4.0, text, anchor="end", muted=True)
    for share in (0.0, 0.5, 1.0):
        yield Label(LEFT + share * WIDTH, TOP + HEIGHT + 16.0, f"{share * last_x:g}", muted=True)
    yield Label(LEFT + WIDTH / 2, TOP + HEIGHT + 36.0, x_label, muted=True)
    lowest = -math.inf
    for (name, values), style in zip(
        sorted(curves.items(), key=last_value, reverse=True), STYLES, strict=False
    ):
        points = [
            (LEFT + index / (len(values) - 1) * WIDTH, to_y(value))
            for index, value in enumerate(values)
            if low <= value <= high
        ]
        yield Line(points, style=style, arrow=False)
        lowest = max(points[-1][1] + 4.0, lowest + 18.0)
        yield Label(LEFT + WIDTH + 8.0, lowest, name, anchor="start")


def last_value(curve: tuple[str, Sequence[float]]) -> float:
    return curve[1][-1]


def encoder_decoder() -> Diagram:
    """An encoder reads two tokens, a decoder with teacher forcing predicts three."""
    parts: list[DiagramPart] = []
    for index, word in enumerate(("A", "dog")):
        x = 60.0 + 92.0 * index
        parts += step_of(x, word, "encoder", "")
        parts.append(
            Line([(x - 44.0, 140.0), (x - 32.0, 140.0)] if not index else across(x), style="carried")
        )
    bridge = 60.0 + 92.0 * 2 + 12.0
    parts.append(Line([(bridge - 72.0, 140.0), (bridge - 28.0, 140.0)], style="carried"))
    parts.append(Box(bridge, 140.0, "bridge", kind="kept", width=56.0))
    for index, (read, written) in enumerate((("<sos>", "Ein"), ("Ein", "Hund"), ("Hund", "<eos>"))):
        x = bridge + 104.0 + 92.0 * index
        parts += step_of(x, read, "decoder", written)
        start = (bridge + 28.0, 140.0)
        parts.append(Line([start, (x - 32.0, 140.0)] if not index else across(x), style="carried"))
    return Diagram(
        "Encoder, bridge and decoder",
        "The encoder reads the source. The bridge turns its last state into the decoder's first one. The decoder"
        " reads the true target, shifted by one, and predicts the next token at every step.",
        bridge + 104.0 + 92.0 * 2 + 60.0,
        270.0,
        parts,
    )


def across(x: float) -> list[tuple[float, float]]:
    """From the step before to this one."""
    return [(x - 92.0 + 32.0, 140.0), (x - 32.0, 140.0)]


def step_of(x: float, read: str, cell: str, written: str) -> Iterator[DiagramPart]:
    yield Line([(x, 204.0), (x, 156.0)])
    yield Box(x, 220.0, read, kind="input", width=64.0)
    yield Box(x, 140.0, cell, kind="state", width=64.0)
    if written:
        yield Line([(x, 124.0), (x, 76.0)])
        yield Box(x, 60.0, written, kind="output", width=64.0)


def transformer_layer() -> Diagram:
    """The two usual places of the norm."""
    parts: list[DiagramPart] = []
    for x, title, order in (
        (110.0, "pre-LN", ("norm", "sublayer", "+")),
        (330.0, "post-LN", ("sublayer", "+", "norm")),
    ):
        parts.append(Label(x, 24.0, title, bold=True))
        bottom = 420.0
        parts.append(Label(x, bottom + 22.0, "x", muted=True))
        for sublayer in ("attention", "feed-forward"):
            parts += residual_path(x, bottom, order, sublayer)
            bottom -= 186.0
        parts.append(Line([(x, bottom), (x, bottom - 14.0)]))
    return Diagram(
        "One Transformer layer with its norms",
        "Attention and then a feed-forward network, each inside a residual connection. Pre-LN normalizes what"
        " enters a sub-layer; post-LN normalizes the sum.",
        440.0,
        456.0,
        parts,
    )


def residual_path(x: float, bottom: float, order: Sequence[str], sublayer: str) -> Iterator[DiagramPart]:
    """From the bottom up: norm, sub-layer and sum in the given order, and the path around them."""
    heights = [bottom - 46.0 - 56.0 * place for place in range(3)]
    branch = bottom - 12.0
    sum_y = heights[order.index("+")]
    yield Line([(x, branch), (x + 78.0, branch), (x + 78.0, sum_y), (x + 11.0, sum_y)], style="carried")
    below = bottom
    for y, part in zip(heights, order, strict=True):
        half = 11.0 if part == "+" else 16.0
        yield Line([(x, below), (x, y + half)])
        below = y - half
        if part == "+":
            yield Operator(x, y, "+")
        elif part == "norm":
            yield Box(x, y, "norm", kind="gate", width=104.0)
        else:
            yield Box(x, y, sublayer, kind="state", width=104.0)
    yield Line([(x, below), (x, bottom - 186.0)], arrow=False)


def masked_tokens() -> Diagram:
    """A sentence, what a masked language model sees of it, and what it is asked."""
    rows = [
        ("text", "input", ("the", "cat", "sat", "on", "the", "mat", ".")),
        ("input", "plain", ("the", "<mask>", "sat", "on", "the", "dog", ".")),
        ("target", "output", ("", "cat", "", "", "", "mat", "")),
    ]
    parts: list[DiagramPart] = []
    for row, (name, kind, words) in enumerate(rows):
        y = 40.0 + 56.0 * row
        parts.append(Label(64.0, y + 4.5, name, anchor="end", muted=True))
        for index, word in enumerate(words):
            changed = name == "input" and word != rows[0][2][index]
            if word:
                parts.append(
                    Box(
                        112.0 + 78.0 * index,
                        y,
                        word,
                        kind="gate" if changed else "output" if kind == "output" else "input",
                        width=66.0,
                    )
                )
    return Diagram(
        "Masked tokens",
        "Two of seven tokens were chosen: one is replaced by <mask>, one by a random token. The loss is"
        " computed at these two only.",
        640.0,
        196.0,
        parts,
    )


def masks() -> Diagram:
    """Which steps each step may attend to: all of them, the earlier ones, the nearest earlier ones."""
    kinds = {"full (BERT)": (5, 5), "causal (GPT)": (5, 0), "causal, window 3": (2, 0)}  # steps back, ahead
    parts: list[DiagramPart] = []
    for panel, (title, (back, ahead)) in enumerate(kinds.items()):
        left = 70.0 + 190.0 * panel
        parts.append(Label(left + 50.0, 26.0, title, bold=True))
        for target in range(6):
            for source in range(6):
                parts.append(
                    Box(
                        left + 24.0 * source,
                        60.0 + 24.0 * target,
                        "",
                        kind="state" if -ahead <= target - source <= back else "plain",
                        width=20.0,
                        height=20.0,
                    )
                )
        parts.append(Label(left + 60.0, 212.0, "source", muted=True))
    parts.append(Label(50.0, 124.0, "target", anchor="end", muted=True))
    return Diagram(
        "Attention masks",
        "Rows are queries, columns are keys. A full mask lets every step see all steps; a causal one only"
        " itself and earlier steps; with a window only the nearest of these.",
        620.0,
        226.0,
        parts,
    )


SCORES = (0.4, 1.2, 2.6, 3.0, 0.2, 1.6, 0.8, 2.2)
"""How well eight source steps match one query."""


def alignment_kinds() -> Diagram:
    """One row of scores, and what becomes of it."""
    kinds = {
        "soft (softmax)": softmax(SCORES),
        "sparse (sparsemax)": sparsemax(SCORES),
        "hard (argmax)": [float(score == max(SCORES)) for score in SCORES],
        "local (center 5.6, D = 2)": local_weights(SCORES, center=5.6, reach=2),
    }
    parts: list[DiagramPart] = []
    for row, (name, weights) in enumerate({"scores": SCORES, **kinds}.items()):
        bottom = 92.0 + 84.0 * row
        parts.append(Label(176.0, bottom - 18.0, name, anchor="end", bold=not row))
        parts.append(Line([(190.0, bottom), (590.0, bottom)], style="axis", arrow=False))
        for step, weight in enumerate(weights):
            x, height = 215.0 + 50.0 * step, 52.0 * weight / max(weights)
            if height:
                kind = "state" if row else "plain"
                parts.append(Box(x, bottom - height / 2, "", kind=kind, width=34.0, height=height))
            parts.append(Label(x, bottom - height - 6.0, f"{weight:.2f}" if weight else "0", muted=True))
    parts += [Label(215.0 + 50.0 * step, 450.0, str(step), muted=True) for step in range(len(SCORES))]
    parts.append(Label(390.0, 472.0, "source step", muted=True))
    return Diagram(
        "From scores to attention weights",
        "The same eight scores as soft, sparse, hard and local weights. Soft weights are all above zero; sparse"
        " ones are zero far from the best score; a hard alignment has a single 1; local weights are zero outside"
        " the window and smaller toward its ends.",
        610.0,
        486.0,
        parts,
    )


def softmax(scores: Sequence[float]) -> list[float]:
    total = sum(math.exp(score) for score in scores)
    return [math.exp(score) / total for score in scores]


def sparsemax(scores: Sequence[float]) -> list[float]:
    """The nearest distribution to the scores: what is above a threshold, so that the sum is 1."""
    ranked = sorted(scores, reverse=True)
    sums = [sum(ranked[: count + 1]) for count in range(len(ranked))]
    support = max(count for count, score in enumerate(ranked, 1) if 1 + count * score > sums[count - 1])
    threshold = (sums[support - 1] - 1) / support
    return [max(0.0, score - threshold) for score in scores]


def local_weights(scores: Sequence[float], *, center: float, reach: int) -> list[float]:
    """A softmax over the window around a predicted center, times a bell curve with a deviation of half the reach."""
    window = [step for step in range(len(scores)) if abs(step - center) <= reach]
    weights = dict(zip(window, softmax([scores[step] for step in window]), strict=True))
    return [
        weights.get(step, 0.0) * math.exp(-((step - center) ** 2) / (2 * (reach / 2) ** 2))
        for step in range(len(scores))
    ]


def fine_tuning() -> Diagram:
    """What is kept, what is new, and how fast each part moves with start.layer_decay=0.7."""
    stages = ("embedding", "layer 1", "layer 2", "layer 3")
    parts: list[DiagramPart] = []
    for column, (title, head) in enumerate((("pretrained", "next token"), ("fine-tuned", "classes"))):
        x = 120.0 + 240.0 * column
        parts.append(Label(x, 24.0, title, bold=True))
        for level, name in enumerate((*stages, head)):
            y = 290.0 - 56.0 * level
            kind = "output" if name == head else "state"
            parts.append(Box(x, y, name, kind=kind, width=104.0))
            if level:
                parts.append(Line([(x, y + 40.0), (x, y + 16.0)]))
            if column:
                rate = 0.7 ** (len(stages) - level)
                parts.append(Label(x + 62.0, y + 4.5, f"rate × {rate:.2f}", anchor="start", muted=True))
                if name != head:
                    parts.append(Line([(172.0, y), (x - 52.0, y)], style="carried"))
    return Diagram(
        "Fine-tuning with layer-wise learning rates",
        "Embedding and layers are copied from the pretrained network and the head is new. With a decay of 0.7 per"
        " layer the head learns at the full rate and the embedding at 0.7 to the fourth of it.",
        510.0,
        324.0,
        parts,
    )


LECTURE_CLASSIFIER = {
    "padding masked": (0.8382, 0.8335, 0.8427),
    "attention dropout": (0.8434, 0.8387, 0.8478),
    "padding visible": (0.8256, 0.8207, 0.8302),
}
"""Test accuracy with its 95% CI: docs/recipes/imdb-lecture.md."""
NAIVE_BAYES = 0.8167


def intervals() -> Diagram:
    """Scores with their intervals beside the baseline's."""
    low, high = 0.81, 0.85

    def to_x(value: float) -> float:
        return 170.0 + (value - low) / (high - low) * 380.0

    parts: list[DiagramPart] = []
    for tick in (0.81, 0.82, 0.83, 0.84, 0.85):
        parts.append(Line([(to_x(tick), 34.0), (to_x(tick), 160.0)], style="axis", arrow=False))
        parts.append(Label(to_x(tick), 178.0, f"{tick:.2f}", muted=True))
    parts.append(Line([(to_x(NAIVE_BAYES), 28.0), (to_x(NAIVE_BAYES), 160.0)], style="slope", arrow=False))
    parts.append(Label(to_x(NAIVE_BAYES), 22.0, "naive Bayes", muted=True))
    for row, (name, (value, start, end)) in enumerate(LECTURE_CLASSIFIER.items()):
        y = 56.0 + 42.0 * row
        parts.append(Label(158.0, y + 4.5, name, anchor="end"))
        parts.append(Line([(to_x(start), y), (to_x(end), y)], style="value", arrow=False))
        parts.append(Operator(to_x(value), y, "", radius=4.0))
    return Diagram(
        "Test accuracy with 95% CI",
        "Three variants of one classifier on 25,000 reviews beside naive Bayes. Two intervals overlap, so the"
        " difference between these two variants is not established.",
        580.0,
        194.0,
        parts,
    )


if __name__ == "__main__":
    for path, text in pictures().items():
        path.write_text(text, encoding="utf-8")
