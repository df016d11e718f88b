"""Writes pictures/picture_looks.json, where trained networks look in pictures: `python docs/picture_looks.py
RUN`.

RUN is a run of `seqlab train digits --model vit`. From the numbers kept here `python docs/pictures.py` draws.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import torch

from seqlab.datasets.base import datasets
from seqlab.inspection.class_token import class_token_attention
from seqlab.models.images.classifier import ImageClassifier
from seqlab.models.images.vision_transformer import VisionTransformer
from seqlab.pages.charts.image_attention import AttentionView, ImageAttentionMap
from seqlab.runs.run import Run
from seqlab.studies.captions import FULL, HELD_OUT, caption_attention, train_captioner
from seqlab.studies.kit.drawn_shapes import draw_scenes, split_pairs
from seqlab.studies.kit.small_training import seeded

HERE = Path(__file__).parent
DIGIT = "3"
SEED = 0


def class_token() -> ImageAttentionMap:
    """The first test picture of the digit that the run gets right, and where each head looks."""
    run = Run.load(sys.argv[1])
    assert isinstance(run.model, ImageClassifier)
    assert isinstance(run.model.network, VisionTransformer)
    rows = [
        row.values for row in datasets.get("digits")().splits()["test"].rows() if row.values["label"] == DIGIT
    ]
    picture = next(row["steps"] for row in rows if run.predict([row["steps"]])[0].answer == DIGIT)
    steps = torch.from_numpy(run.codec.encode([picture])[0]).unsqueeze(0)
    found = class_token_attention(
        run.model.network, run.model.rows(steps, torch.ones(steps.shape[:2], dtype=torch.bool))
    )[0]
    looks = []
    for depth, layer in enumerate(found.tolist(), start=1):
        looks.append(AttentionView("the image"))
        looks += [
            AttentionView(f"layer {depth}, head {number}", _rounded(head))
            for number, head in enumerate(layer, start=1)
        ]
    pixels = [
        [(round(1 - ink, 3), round(1 - 0.6 * ink, 3), round(1 - 0.1 * ink, 3)) for ink in line]
        for line in picture
    ]  # blue ink on paper
    return ImageAttentionMap(
        f"Attention of the class token in a handwritten {DIGIT}", pixels, looks, columns=1 + found.shape[1]
    )


def _rounded(weights: list[list[float]]) -> list[list[float]]:
    return [[round(weight, 4) for weight in line] for line in weights]


def captions() -> ImageAttentionMap:
    """What the study of captions draws, for the first of its pictures."""
    with seeded(SEED, "pairs of shapes") as generator:
        seen, held_out = split_pairs(held_out=HELD_OUT, generator=generator)
    with seeded(SEED, "captions", "attention") as generator:
        model, *_ = train_captioner(FULL.captioners[0], FULL, seen, held_out, generator)
    with seeded(SEED, "saccades") as generator:
        scene = draw_scenes(2, held_out, generator)[0]
    return caption_attention(model, scene)


if __name__ == "__main__":
    torch.set_num_threads(1)
    kept = {draw.__name__: asdict(draw()) for draw in (class_token, captions)}
    (HERE / "pictures" / "picture_looks.json").write_text(json.dumps(kept) + "\n", encoding="utf-8")
