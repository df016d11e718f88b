"""Writes pictures/word_planes.json, the words of the study of analogies in the plane: `python docs/word_planes.py`.

From the numbers kept here `python docs/pictures.py` draws.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from seqlab.baselines.counted_vectors import count_vectors
from seqlab.pages.charts.embedding_map import PlaneWord, WordPlane
from seqlab.studies.analogies import COUNTING, SENTENCES, parallelograms, sentences

HERE = Path(__file__).parent


def rounded(plane: WordPlane) -> dict[str, object]:
    """The map with places to three decimals, which is more than a picture shows."""
    words = [asdict(PlaneWord(word.word, round(word.x, 3), round(word.y, 3), word.near)) for word in plane.words]
    return {**asdict(plane), "shares": [round(share, 3) for share in plane.shares], "words": words}


if __name__ == "__main__":
    genders, _ = parallelograms(count_vectors(sentences(SENTENCES, 0), COUNTING))
    kept = {"analogy": rounded(genders)}
    (HERE / "pictures" / "word_planes.json").write_text(json.dumps(kept, ensure_ascii=False) + "\n", encoding="utf-8")
