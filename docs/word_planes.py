"""Writes pictures/word_planes.json, the words of the study of analogies in the plane: `python
docs/word_planes.py`.

From the numbers kept here `python docs/pictures.py` draws.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from seqlab.baselines.counted_vectors import fit_count_vectors
from seqlab.pages.charts.embedding_map import EmbeddingMap, EmbeddingPoint
from seqlab.studies.analogies import SENTENCES, VECTOR_SETTINGS, generate_sentences, parallelograms

HERE = Path(__file__).parent


def rounded(plane: EmbeddingMap) -> dict[str, object]:
    """The map with places to three decimals, which is more than a picture shows."""
    words = [
        asdict(EmbeddingPoint(word.word, round(word.x, 3), round(word.y, 3), word.neighbors))
        for word in plane.words
    ]
    return {
        **asdict(plane),
        "explained_variance": [round(share, 3) for share in plane.explained_variance],
        "words": words,
    }


if __name__ == "__main__":
    genders, _ = parallelograms(fit_count_vectors(generate_sentences(SENTENCES, 0), VECTOR_SETTINGS))
    kept = {"analogy": rounded(genders)}
    (HERE / "pictures" / "word_planes.json").write_text(
        json.dumps(kept, ensure_ascii=False) + "\n", encoding="utf-8"
    )
