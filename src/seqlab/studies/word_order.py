"""Does order matter? Sentences with the same words and opposite meaning, for networks that see word order
and for networks that do not.
"""

from __future__ import annotations

import random

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.blocks.pooling import MeanPool
from seqlab.core.seeds import derive
from seqlab.inspection.order_sensitivity import vector_distance
from seqlab.models.base import backbones
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import SequenceSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.pages.charts.number_grids import NumberGrid, draw_number_grids
from seqlab.pages.html import Markup
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_training import seeded

PAIRS = {
    "praise": ("not bad at all but good", "not good at all but bad"),
    "bite": ("the dog bites the man", "the man bites the dog"),
    "proof": ("it works but it is slow", "it is slow but it works"),
    "reversed": ("she only said that she left", "left she that said only she"),
}
"""Two sentences of the same words each."""
LENGTHS = (4, 8, 16, 32)
WIDTH = 32
BAG = "bag of words"
NETWORKS: dict[str, SequenceSettings | None] = {
    BAG: None,
    "attention without positions": TransformerSettings(
        hidden_size=WIDTH, layers=2, dropout=0.0, positions="none"
    ),
    "attention with positions": TransformerSettings(hidden_size=WIDTH, layers=2, dropout=0.0),
    "rnn": RecurrentSettings(cell="rnn", hidden_size=WIDTH, dropout=0.0),
    "gru": RecurrentSettings(cell="gru", hidden_size=WIDTH, dropout=0.0),
    "bidirectional lstm": RecurrentSettings(
        cell="lstm", hidden_size=WIDTH // 2, embedding_size=WIDTH, bidirectional=True, dropout=0.0
    ),
    "convolution": ConvolutionalSettings(hidden_size=WIDTH, layers=2, dropout=0.0),
}
SAME = 1e-5
"""A share below which only the order of additions differs."""


@studies.register("word_order")
def word_order(*, seed: int, quick: bool) -> Finding:
    """Untrained networks with several initializations: a network that cannot see order before training can
    never learn it.
    """
    starts = 2 if quick else 10
    distances_by_network = {
        name: {pair: _relative_distance(name, pair, starts, seed) for pair in PAIRS} for name in NETWORKS
    }
    rows: list[dict[str, Value]] = [
        {"network": name, **distances, "sees order": "yes" if max(distances.values()) > SAME else "no"}
        for name, distances in distances_by_network.items()
    ]
    blind = [str(row["network"]) for row in rows if row["sees order"] == "no"]
    nearest = min(
        min(distances.values()) for name, distances in distances_by_network.items() if name not in blind
    )
    return Finding(
        claim=(
            "Without order, two sentences with the same words are identical: to a bag of words, and to"
            " attention without positions."
        ),
        conclusion=(
            f"To {' and to '.join(blind)}, the reordered sentences are identical; for all other networks,"
            f" the vectors differ by at least {nearest:.0%} of their length."
        ),
        rows=rows,
        curves=[
            LineChart(
                "Longer sentences of random words, original vs. shuffled",
                "words",
                "distance / length",
                [
                    LineSeries(name, LENGTHS, [_shuffled(name, length, starts, seed) for length in LENGTHS])
                    for name in NETWORKS
                ],
            )
        ],
        figures=[_draw_distances(distances_by_network)],
        notes=[
            *(
                f"{pair}: “{first_text}” and “{second_text}”."
                for pair, (first_text, second_text) in PAIRS.items()
            ),
            (
                "The features of all words are averaged; distances are relative to the mean length of"
                f" both vectors, averaged over {starts} random initializations."
            ),
            "For your own run, use seqlab words RUN --word-order ONE OTHER",
        ],
    )


def _draw_distances(distances_by_network: dict[str, dict[str, float]]) -> Markup:
    grid = NumberGrid(
        "distance / length",
        list(distances_by_network),
        list(PAIRS),
        [[distances[pair] for pair in PAIRS] for distances in distances_by_network.values()],
    )
    return draw_number_grids(
        "Distance between reordered sentences",
        [[grid]],
        ident="word_order",
        description="One row per network, one column per pair of sentences.",
    )


def _relative_distance(name: str, pair: str, starts: int, seed: int) -> float:
    return float(
        np.mean(
            [
                vector_distance(*embed_texts(name, PAIRS[pair], seed=seed, start=start)).relative
                for start in range(starts)
            ]
        )
    )


def _shuffled(name: str, length: int, starts: int, seed: int) -> float:
    """The distance between a sentence of random words and its shuffled counterpart."""
    distances = []
    for start in range(starts):
        rng = random.Random(derive(seed, "shuffled", length, start))  # noqa: S311 (not for secrets)
        words = [f"word{rng.randrange(50)}" for _ in range(length)]
        reordered = rng.sample(words, length)
        distances.append(
            vector_distance(
                *embed_texts(name, (" ".join(words), " ".join(reordered)), seed=seed, start=start)
            ).relative
        )
    return float(np.mean(distances))


@torch.no_grad()
def embed_texts(
    name: str, texts: tuple[str, str], *, seed: int, start: int
) -> tuple[Float[np.ndarray, "hidden"], Float[np.ndarray, "hidden"]]:
    """Both sentences as one vector each: random word vectors, then the network, then the mean over the
    words.
    """
    words = sorted({word for text in texts for word in text.split()})
    with seeded(seed, "word_order", name, start) as generator:
        table = torch.randn(len(words), WIDTH, generator=generator)
        backbone = (
            None
            if (settings := NETWORKS[name]) is None
            else backbones.get(settings.kind).from_settings(settings, causal=False).eval()
        )

    def vector(text: str) -> Float[Tensor, "hidden"]:
        steps = table[[words.index(word) for word in text.split()]].unsqueeze(0)  # (1, time, width)
        is_token = torch.ones(steps.shape[:2], dtype=torch.bool)
        return MeanPool()(steps if backbone is None else backbone(steps, is_token)[0], is_token)[0]

    first, second = (vector(text).numpy() for text in texts)
    return first, second
