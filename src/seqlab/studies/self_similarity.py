"""Attention without learned queries: a word attends to itself, an image patch to similar patches."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.datasets.digits import read_digits
from seqlab.datasets.pydoc import read_topics
from seqlab.pages.charts.attention_map import AttentionMap, draw_attention_map
from seqlab.pages.html import Markup
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_training import seeded

WIDTH = 64
PATCH = 2
WORDS_PER_SENTENCE = 12


@studies.register("self_similarity")
def self_similarity(*, seed: int, quick: bool) -> Finding:
    """softmax(X Xᵀ / √D) of words and of patches: how much weight each step gives to itself."""
    count = 20 if quick else 200
    texts, words = _sentences(count, seed)
    patches = _image_patches(count, seed)
    kinds = {"words": texts, "patches of images": patches}
    alignments = {name: [_similarity(steps) for steps in group] for name, group in kinds.items()}
    rows = [_row(name, group) for name, group in alignments.items()]
    shares = {str(row["steps"]): float(row["weight on itself"]) for row in rows}
    return Finding(
        claim=(
            "Without learned queries, a token's similarity to itself dominates its attention row in"
            " text, but not in images."
        ),
        conclusion=(
            f"A word puts {shares['words']:.3f} of its weight on itself, a patch"
            f" {shares['patches of images']:.3f}; uniform weights would give"
            f" {float(rows[0]['equal weights']):.3f} and {float(rows[1]['equal weights']):.3f}."
        ),
        rows=rows,
        curves=[
            LineChart(
                "Weights of a row, largest first",
                "rank",
                "mean weight",
                [_ranked(name, group) for name, group in alignments.items()],
            )
        ],
        figures=[
            _draw_similarity("Words", words[0], alignments["words"][0]),
            _draw_similarity(
                "Patches of an image, row by row",
                [str(n) for n in range(1, 17)],
                alignments["patches of images"][0],
            ),
        ],
        notes=[
            (
                f"{WORDS_PER_SENTENCE} different consecutive words from Python's help, each with a random"
                f" vector of {WIDTH} features, like an untrained embedding."
            ),
            (
                f"Handwritten digits in patches of {PATCH} × {PATCH} gray values, mapped to {WIDTH}"
                " features by one random projection."
            ),
            (
                "Features have mean 0 and variance 1 over all words or patches; a word that occurs twice"
                " would share its weight with its copy."
            ),
        ],
    )


def _sentences(count: int, seed: int) -> tuple[list[Float[Tensor, "time width"]], list[list[str]]]:
    words = read_topics().split()
    with seeded(seed, "self_similarity", "words") as generator:
        starts = torch.randint(len(words) - 4 * WORDS_PER_SENTENCE, (count,), generator=generator).tolist()
        table = torch.randn(len(words), WIDTH, generator=generator)
    ids = {word: number for number, word in enumerate(dict.fromkeys(words))}
    chosen = [
        list(dict.fromkeys(words[start : start + 4 * WORDS_PER_SENTENCE]))[:WORDS_PER_SENTENCE]
        for start in starts
    ]
    return [table[[ids[word] for word in sentence]] for sentence in chosen], chosen


def _image_patches(count: int, seed: int) -> list[Float[Tensor, "patches width"]]:
    pixels = torch.tensor([row["steps"] for row in read_digits()[:count]])  # (images, 8, 8)
    pixel_patches = (
        pixels.unfold(1, PATCH, PATCH).unfold(2, PATCH, PATCH).flatten(3).flatten(1, 2)
    )  # (images, 16, 4)
    with seeded(seed, "self_similarity", "images") as generator:
        projected = pixel_patches @ torch.randn(PATCH * PATCH, WIDTH, generator=generator)
    centered = projected - projected.mean(dim=(0, 1))
    return list(centered / centered.std())


def _similarity(steps: Float[Tensor, "time width"]) -> Float[Tensor, "time time"]:
    return (steps @ steps.T / steps.shape[1] ** 0.5).softmax(dim=-1)


def _row(name: str, alignments: list[Tensor]) -> dict[str, Value]:
    self_weights = torch.cat([alignment_matrix.diagonal() for alignment_matrix in alignments])
    is_largest = torch.cat(
        [
            alignment_matrix.argmax(dim=-1) == torch.arange(len(alignment_matrix))
            for alignment_matrix in alignments
        ]
    )
    return {
        "steps": name,
        "weight on itself": float(self_weights.mean()),
        "sees itself most": float(is_largest.float().mean()),
        "equal weights": float(
            torch.cat(
                [
                    torch.full((len(alignment_matrix),), 1 / len(alignment_matrix))
                    for alignment_matrix in alignments
                ]
            ).mean()
        ),
    }


def _ranked(name: str, alignments: list[Tensor]) -> LineSeries:
    shortest = min(len(alignment_matrix) for alignment_matrix in alignments)
    ranked = torch.stack(
        [
            alignment_matrix.sort(dim=-1, descending=True).values[:, :shortest].mean(dim=0)
            for alignment_matrix in alignments
        ]
    ).mean(dim=0)
    return LineSeries(name, range(1, shortest + 1), ranked.tolist())


def _draw_similarity(title: str, words: list[str], alignment: Tensor) -> Markup:
    return draw_attention_map(
        AttentionMap(title, words, words, alignment.tolist()), ident=title.split()[0].lower()
    )
