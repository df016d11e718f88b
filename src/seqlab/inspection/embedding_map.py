"""A two-dimensional map of word vectors: their first two principal components."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.inspection.nearest_words import nearest_words
from seqlab.pages.charts.embedding_map import EmbeddingMap, EmbeddingPoint, draw_embedding_map
from seqlab.pages.html import tag
from seqlab.pages.numbers import count_of
from seqlab.pages.page import Section, render_page
from seqlab.tokens.word_vectors import WordVectors

MAX_WORDS = 300
NUM_NEIGHBORS = 5


def principal_components(
    vectors: Float[np.ndarray, "words width"], count: int = 2
) -> tuple[Float[np.ndarray, "words count"], Float[np.ndarray, "count"]]:
    """Principal component analysis by an exact singular value decomposition.

        X − mean = U S Vᵀ,   places = (X − mean) V[:, :count],   share_k = S_k² / Σ S²

    Returns the coordinates, and the share of the variance that each direction explains. The sign of a
    direction is arbitrary; here its largest component is positive. Paper: Pearson 1901, "On lines and planes
    of closest fit to systems of points in space".
    """
    centered = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, singular_values, directions = np.linalg.svd(centered, full_matrices=False)
    directions = directions[:count]
    strongest = np.abs(directions).argmax(axis=1)
    directions = directions * np.sign(directions[np.arange(len(directions)), strongest])[:, None]
    variance = singular_values**2
    return centered @ directions.T, variance[:count] / max(float(variance.sum()), 1e-300)


def build_embedding_map(
    table: WordVectors,
    words: Sequence[str] = (),
    *,
    num_neighbors: int = 0,
    pairs: Sequence[tuple[str, str]] = (),
    title: str = "Map of word vectors",
) -> EmbeddingMap:
    """A map as plain data: selected words with their `num_neighbors` nearest words, or the first 300
    words; and arrows between pairs.
    """
    neighbors = [neighbor for word in words for neighbor, _ in nearest_words(table, word, top=num_neighbors)]
    chosen = (
        list(dict.fromkeys([*words, *neighbors, *(word for pair in pairs for word in pair)]))
        or table.words[:MAX_WORDS]
    )
    if len(chosen) < 3 or table.width < 2:
        raise UsageError(
            "a map needs at least three words with at least two dimensions.", cure="Add more words."
        )
    rows = table.units[[table.place(word) for word in chosen]]  # cosine similarity ignores lengths
    coordinates, shares = principal_components(rows)
    points = [
        EmbeddingPoint(word, float(x), float(y), _nearest_labels(table, word), is_highlighted=word in words)
        for word, (x, y) in zip(chosen, coordinates, strict=True)
    ]
    return EmbeddingMap(
        title, points, explained_variance=(float(shares[0]), float(shares[1])), pairs=list(pairs)
    )


def _nearest_labels(table: WordVectors, word: str) -> list[str]:
    return [f"{neighbor} {cosine:.2f}" for neighbor, cosine in nearest_words(table, word, top=NUM_NEIGHBORS)]


def write_embedding_map(embedding_map: EmbeddingMap, path: str | Path, *, subtitle: str = "") -> Path:
    """Write the self-contained page and return its path."""
    drawn = draw_embedding_map(embedding_map, ident="map")
    summary = tag(
        "p",
        f"{count_of(len(embedding_map.words), 'word')}. {embedding_map.description()} Hover over a word"
        " to see its nearest neighbors.",
    )
    listing = tag(
        "ul",
        *[tag("li", tag("b", word.word), f": {', '.join(word.neighbors)}") for word in embedding_map.words],
    )
    sections = [Section("map", "Map", tag("div", summary, drawn)), Section("near", "Nearest words", listing)]
    write_whole(
        Path(path),
        render_page(title=embedding_map.title, subtitle=subtitle, created="", notices=(), sections=sections),
    )
    return Path(path)
