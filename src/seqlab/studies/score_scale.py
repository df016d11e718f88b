"""Why attention scores are scaled: the softmax of dot products as the vectors get wider."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from seqlab.attention.scaled_dot import Divisor, ScaledDotScore
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_training import seeded

SOURCE = 16
"""Keys that a query chooses from."""
QUERIES = 1024
DIVISORS: dict[str, Divisor] = {"nothing": "none", "√D": "sqrt", "D": "size"}
"""By their name in the table, what `divisor` of the scaled product is called."""


@studies.register("score_scale")
def score_scale(*, seed: int, quick: bool) -> Finding:
    """Random queries and keys with features of variance 1; the scores divided by nothing, by √D and by D."""
    widths = (4, 16, 64) if quick else (2, 4, 8, 16, 32, 64, 128, 256, 512)
    rows = [_row(width, name, seed) for width in widths for name in DIVISORS]
    series = [
        LineSeries(
            f"divided by {name}", widths, [float(row["entropy"]) for row in rows if row["divided by"] == name]
        )
        for name in DIVISORS
    ]
    last = {str(row["divided by"]): row for row in rows if row["width"] == widths[-1]}
    largest, entropy = (
        {name: f"{float(last[name][column]):.3f}" for name in DIVISORS}
        for column in ("largest weight", "entropy")
    )
    return Finding(
        claim=(
            "Dot products grow with the width of the vectors: unscaled, the softmax picks a single key;"
            " divided by D, it is almost uniform; divided by √D, it stays balanced."
        ),
        conclusion=(
            f"At width {widths[-1]}, the largest of {SOURCE} weights is {largest['nothing']} unscaled,"
            f" {largest['√D']} divided by √D and {largest['D']} divided by D (uniform weights:"
            f" {1 / SOURCE:.3f}); the entropies are {', '.join(entropy.values())} of at most"
            f" {math.log(SOURCE):.3f} nats."
        ),
        rows=rows,
        curves=[
            LineChart(
                "Entropy of the attention weights",
                "width D",
                "nats",
                series,
                references=[ReferenceLine("equal weights", math.log(SOURCE))],
            )
        ],
        notes=[
            f"{QUERIES:,} queries per width, features with mean 0 and variance 1.",
            (
                "The gradient is the mean norm of d weights / d scores; near 0, little is learned."
                " Scaling passes on 1/√D or 1/D of it."
            ),
        ],
    )


def _row(width: int, name: str, seed: int) -> dict[str, Value]:
    with seeded(seed, "score_scale", width) as generator:
        queries, keys = (torch.randn(1, count, width, generator=generator) for count in (QUERIES, SOURCE))
    score = ScaledDotScore(width, width, divisor=DIVISORS[name])
    weights = score(queries, keys)[0].softmax(dim=-1)  # (queries, keys)
    return {
        "width": width,
        "divided by": name,
        "entropy": float(-(weights * weights.clamp_min(1e-30).log()).sum(dim=-1).mean()),
        "largest weight": float(weights.amax(dim=-1).mean()),
        "gradient": _slope(weights),
    }


def _slope(weights: Tensor) -> float:
    """The Frobenius norm of diag(w) - w wᵀ, the derivative of a softmax, averaged."""
    jacobian = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return float(jacobian.flatten(1).norm(dim=1).mean())
