"""Words as points of a plane: the two directions in which their vectors differ most."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.inspection.nearest_words import nearest_words
from seqlab.pages.charts.embedding_map import PlaneWord, WordPlane, draw_word_plane
from seqlab.pages.html import tag
from seqlab.pages.page import Section, page
from seqlab.tokens.word_vectors import WordVectors

MOST_WORDS = 300
NEIGHBOURS = 5


def principal_components(
    vectors: Float[np.ndarray, "words width"], count: int = 2
) -> tuple[Float[np.ndarray, "words count"], Float[np.ndarray, "count"]]:
    """Principal component analysis by an exact singular value decomposition.

        X − mean = U S Vᵀ,   places = (X − mean) V[:, :count],   share_k = S_k² / Σ S²

    Gives the places, and the share of all variance that each direction holds. The sign of a direction is free; here its strongest number
    is positive. Paper: Pearson 1901, "On lines and planes of closest fit to systems of points in space".
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, strengths, directions = np.linalg.svd(centred, full_matrices=False)
    directions = directions[:count]
    strongest = np.abs(directions).argmax(axis=1)
    directions = directions * np.sign(directions[np.arange(len(directions)), strongest])[:, None]
    variance = strengths**2
    return centred @ directions.T, variance[:count] / max(float(variance.sum()), 1e-300)


def word_plane(
    table: WordVectors,
    words: Sequence[str] = (),
    *,
    around: int = 0,
    pairs: Sequence[tuple[str, str]] = (),
    title: str = "Words by their vectors",
) -> WordPlane:
    """A map as plain data: some words with so many nearest words `around` each, or the first 300; and arrows between pairs."""
    beside = [near for word in words for near, _ in nearest_words(table, word, top=around)]
    chosen = list(dict.fromkeys([*words, *beside, *(word for pair in pairs for word in pair)])) or table.words[:MOST_WORDS]
    if len(chosen) < 3 or table.width < 2:
        raise UsageError("a map needs at least three words with vectors of two numbers.", cure="Name more words.")
    rows = table.units[[table.place(word) for word in chosen]]  # directions count for likeness, so lengths are left out
    places, shares = principal_components(rows)
    points = [PlaneWord(word, float(x), float(y), _near(table, word), strong=word in words) for word, (x, y) in zip(chosen, places, strict=True)]
    return WordPlane(title, points, shares=(float(shares[0]), float(shares[1])), pairs=list(pairs))


def _near(table: WordVectors, word: str) -> list[str]:
    return [f"{near} {cosine:.2f}" for near, cosine in nearest_words(table, word, top=NEIGHBOURS)]


def write_word_map(plane: WordPlane, path: str | Path, *, about: str = "") -> Path:
    """Write the page, which needs no other file, and return where it is."""
    drawn = draw_word_plane(plane, ident="map")
    told = tag("p", f"{len(plane.words):,} words. {plane.about()} Point at a word to see its nearest words.")
    listing = tag("ul", *[tag("li", tag("b", word.word), f": {', '.join(word.near)}") for word in plane.words])
    sections = [Section("map", "Map", tag("div", told, drawn)), Section("near", "Nearest words", listing)]
    write_whole(Path(path), page(title=plane.title, subtitle=about, created="", notices=(), sections=sections))
    return Path(path)
