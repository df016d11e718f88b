"""What happens inside attention? One small head on four words, with all intermediate numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.attention.multi_head import MultiHeadSelfAttention
from seqlab.attention.recording import record_alignments
from seqlab.pages.charts.number_grids import NumberGrid, draw_number_grids
from seqlab.pages.html import Markup
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.positions.sinusoidal import SinusoidalPositions
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_training import seeded

WORDS = ("I", "saw", "a", "saw")
"""One word occurs twice: only its position distinguishes the two."""
SIZE = len(WORDS)
"""Features of a word. As many as words, so that every stage is a table of the same width."""
SPREAD = 2.5
"""Makes untrained weights large enough for a head with preferences."""

Square = Float[Tensor, "rows columns"]


@dataclass(frozen=True)
class AttentionStages:
    """All intermediate results of one head, in order of computation; a row is a word, or an output of a
    projection.
    """

    embedding: Square
    position: Square
    step: Square
    W_q: Square
    W_k: Square
    W_v: Square
    q: Square
    k: Square
    v: Square
    score: Square
    scaled: Square
    weight: Square
    feature: Square


@studies.register("attention_steps")
def attention_steps(*, seed: int, quick: bool) -> Finding:  # noqa: ARG001 (nothing is trained, so every run is quick)
    """A sentence is embedded, gets positional encodings, and goes through one self-attention head."""
    attention, embedding = _head(seed)
    stages = compute_stages(attention, embedding)
    apart = (stages.step[1] - stages.step[3]).norm().item()
    first, second = (", ".join(f"{weight:.2f}" for weight in stages.weight[row]) for row in (1, 3))
    positions = range(1, SIZE + 1)
    return Finding(
        claim=(
            "Attention is a few small matrix products: add positions, project to q, k and v, compare,"
            " scale, normalize with a softmax, and average the values."
        ),
        conclusion=(
            f"The two words '{WORDS[1]}' start with the same {SIZE}-dimensional embedding and are"
            f" {apart:.2f} apart after their positions are added, so the first has the attention weights"
            f" {first}, the second {second}. The weights and outputs computed by hand differ from the"
            f" layer's by at most {_error(attention, stages):.0e}."
        ),
        rows=_rows(stages),
        curves=[
            LineChart(
                "Attention weights of each word",
                "word attended to",
                "weight",
                [
                    LineSeries(f"{word} ({position})", positions, stages.weight[position - 1].tolist())
                    for position, word in zip(positions, WORDS, strict=True)
                ],
            )
        ],
        figures=[draw_steps(stages)],
        notes=[
            (
                f"One untrained head of {SIZE} features; embeddings and projections are rounded to one"
                " decimal so that you can follow by hand."
            ),
            (
                f"Columns 1 to {SIZE} are features; for scores, scaled scores and weights, they are the"
                " words attended to."
            ),
            "Each row of W_q, W_k or W_v computes one feature of q, k or v: its dot product with the step.",
            (
                f"step = embedding + position; score = q · k; scaled = score / √{SIZE}; weight = exp(scaled)"
                " / Σ exp(scaled); feature = Σ weight · v."
            ),
        ],
    )


def _head(seed: int) -> tuple[MultiHeadSelfAttention, Square]:
    """A head and the embeddings of the words, rounded to one decimal."""
    with seeded(seed, "attention_steps") as generator:
        attention = MultiHeadSelfAttention(SIZE, num_heads=1, qkv_bias=False, output_bias=False)
        of_word = {word: torch.randn(SIZE, generator=generator) for word in WORDS}
    with torch.no_grad():
        attention.qkv.weight.copy_(torch.round(SPREAD * attention.qkv.weight, decimals=1) + 0.0)
    return (
        attention,
        torch.round(torch.stack([of_word[word] for word in WORDS]), decimals=1) + 0.0,
    )  # no negative zero


@torch.no_grad()
def compute_stages(attention: MultiHeadSelfAttention, embedding: Square) -> AttentionStages:
    """Every stage computed explicitly from the weights of a head."""
    position = SinusoidalPositions(SIZE).rows(SIZE, embedding)[:SIZE]
    step = embedding + position
    W_q, W_k, W_v = attention.qkv.weight.chunk(3)  # noqa: N806 (their names in the papers)
    q, k, v = step @ W_q.T, step @ W_k.T, step @ W_v.T
    score = q @ k.T
    scaled = score / SIZE**0.5
    weight = scaled.exp() / scaled.exp().sum(dim=-1, keepdim=True)
    return AttentionStages(
        embedding, position, step, W_q, W_k, W_v, q, k, v, score, scaled, weight, feature=weight @ v
    )


@torch.no_grad()
def _error(attention: MultiHeadSelfAttention, stages: AttentionStages) -> float:
    """The largest difference between the layer's output and the explicit computation."""
    with record_alignments(attention) as alignments:
        output, _ = attention(stages.step.unsqueeze(0))
    weights, outputs = alignments[""][0][0, 0] - stages.weight, output[0] - attention.output(stages.feature)
    return max(weights.abs().max().item(), outputs.abs().max().item())


def _rows(stages: AttentionStages) -> list[dict[str, Value]]:
    rows: list[dict[str, Value]] = []
    for stage in fields(stages):
        names = (
            [f"feature {row}" for row in range(1, SIZE + 1)]
            if stage.name.startswith("W_")
            else [f"{word} ({position})" for position, word in _numbered_words()]
        )
        for name, line in zip(names, getattr(stages, stage.name).tolist(), strict=True):
            rows.append(
                {
                    "stage": stage.name,
                    "of": name,
                    **{str(column): value for column, value in enumerate(line, start=1)},
                }
            )
    return rows


def _numbered_words() -> list[tuple[int, str]]:
    return list(enumerate(WORDS, start=1))


def draw_steps(stages: AttentionStages) -> Markup:
    """The stages as matrices, from the embeddings to the features."""

    def grid(
        title: str, values: Square, *, sign: str = "", over: tuple[str, ...] = ("1", "2", "3", "4")
    ) -> NumberGrid:
        return NumberGrid(title, WORDS, over, values.tolist(), sign)

    lines = [
        [
            grid("embeddings", stages.embedding),
            grid("positions", stages.position, sign="+"),
            grid("steps", stages.step, sign="="),
        ],
        [
            grid("q = steps · W_q", stages.q),
            grid("k = steps · W_k", stages.k),
            grid("v = steps · W_v", stages.v),
        ],
        [
            grid("scores q · k", stages.score, over=WORDS),
            grid(f"scaled by √{SIZE}", stages.scaled, sign="→", over=WORDS),
        ],
        [
            grid("weights (softmax)", stages.weight, over=WORDS),
            grid("v", stages.v, sign="×"),
            grid("features", stages.feature, sign="="),
        ],
    ]
    description = (
        f"The words '{' '.join(WORDS)}' as numbers at every stage of one attention head, from embeddings to"
        " features."
    )
    return draw_number_grids(
        "Attention, step by step", lines, ident="attention-steps", description=description
    )


def draw_attention_steps(seed: int = 0) -> Markup:
    """The figure of the study."""
    return draw_steps(compute_stages(*_head(seed)))
