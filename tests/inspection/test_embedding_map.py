"""The map of words: places by an independent analysis, and the page."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from seqlab.core.errors import UsageError
from seqlab.inspection.embedding_map import build_embedding_map, principal_components, write_embedding_map
from seqlab.pages.charts.embedding_map import EmbeddingMap, EmbeddingPoint, draw_embedding_map
from seqlab.tokens.word_vectors import WordVectors
from tests.pages.reading import Page

HOSTILE = "<script>alert('x')</script>"


@pytest.mark.spec(180)
def test_places_are_the_projections_on_the_largest_eigenvectors_of_the_covariance() -> None:
    vectors = np.random.default_rng(1).normal(size=(11, 6)) * [5, 1, 3, 0.5, 2, 1]
    places, shares = principal_components(vectors, 3)
    values, directions = np.linalg.eigh(np.cov(vectors.T, bias=True))
    assert shares == pytest.approx(values[::-1][:3] / values.sum())
    for number in range(3):
        expected = (vectors - vectors.mean(axis=0)) @ directions[:, -1 - number]
        assert np.abs(places[:, number]) == pytest.approx(np.abs(expected))
    again, _ = principal_components(vectors[:, ::-1].copy(), 3)
    assert np.abs(again) == pytest.approx(np.abs(places))


@pytest.mark.spec(180)
def test_a_map_names_its_words_shows_what_is_near_and_draws_pairs(tmp_path: Path) -> None:
    words = ["man", "woman", "uncle", "aunt", HOSTILE]
    table = WordVectors(words, np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [-1, 0.5, 0.2]]))
    plane = build_embedding_map(table, pairs=[("man", "woman"), ("uncle", "aunt")])
    assert [word.word for word in plane.words] == words[:4]
    plane = build_embedding_map(table, ["aunt"], num_neighbors=2, pairs=[("man", "woman")])
    assert next((word.word, word.is_highlighted) for word in plane.words) == ("aunt", True)
    whole = build_embedding_map(table)
    assert len(whole.words) == 5
    page = write_embedding_map(whole, tmp_path / "map.html", subtitle="a file").read_text(encoding="utf-8")
    assert "script" not in Page(page).names()
    assert "aunt is close to uncle 0." in page
    assert "5 words. The map shows" in page
    with pytest.raises(UsageError, match="at least three words"):
        build_embedding_map(table, ["man", "aunt"])


def test_names_never_cover_each_other_and_the_crowded_ones_wait_for_the_pointer() -> None:
    words = [EmbeddingPoint(f"word{number}", 0.001 * number, 0.0) for number in range(40)]
    words += [EmbeddingPoint("far", 1.0, 1.0), EmbeddingPoint("asked", 0.0201, 0.0, is_highlighted=True)]
    svg = ET.fromstring(
        draw_embedding_map(
            EmbeddingMap("Map", words, explained_variance=(0.5, 0.5), pairs=[("word0", "far")]), ident="m"
        )
    )
    names = [text for text in svg.iter("text") if "word-name" in text.attrib.get("class", "")]
    shown = [text for text in names if "crowded" not in text.attrib["class"]]
    assert len(names) == 42
    assert {"far", "asked"} <= {text.text for text in shown}
    assert len(shown) < 10
    boxes = [_box(text) for text in shown]
    assert not any(
        one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
        for place, one in enumerate(boxes)
        for other in boxes[:place]
    )
    assert len(list(svg.iter("path"))) == 1


def _box(text: ET.Element) -> tuple[float, float, float, float]:
    x, y, wide = float(text.attrib["x"]), float(text.attrib["y"]), 6.0 * len(text.text or "")
    left = {"start": x, "end": x - wide, "middle": x - wide / 2}[text.attrib["text-anchor"]]
    return left, y - 9, left + wide, y + 2
