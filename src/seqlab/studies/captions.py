"""Does a captioner with attention to the image at every word describe it better than one that sees it
once?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from seqlab.datasets.shapes import CELL_SIZE, GRID_SIZE, Scene
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.search import SourceBatch, SpecialTokens
from seqlab.decoding.stepwise import StepwiseSearch
from seqlab.decoding.token_choice import Greedy, MultinomialSampler, TokenChooser
from seqlab.models.images.captioner import Captioner, build_captioner
from seqlab.models.images.regions import RegionBackbone
from seqlab.pages.charts.image_attention import AttentionView, ImageAttentionMap, Pixel, draw_image_attention
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.drawn_shapes import (
    END,
    MAX_CAPTION_TOKENS,
    START,
    WORD_IDS,
    WORDS,
    ShapePairs,
    draw_scenes,
    scene_to_image,
    scenes_to_batch,
    split_pairs,
)
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.kit.small_training import TrainingRecord, seeded, train_small

VIEWS = {"attention": "attention", "state": "image as first state"}
CHANCE = 1 / GRID_SIZE**2
"""The weight of a square under uniform attention."""
HELD_OUT = 0.25
GRAY = 0.9
"""Subtracted from every pixel, since images are mostly white."""


@dataclass(frozen=True)
class CaptionerConfig:
    """One captioner and its training; learning rate and width were tuned for each view."""

    view: str
    steps: int
    learning_rate: float
    hidden_size: int


@dataclass(frozen=True)
class CaptionsConfig:
    """Sizes of the training."""

    captioners: tuple[CaptionerConfig, ...]
    scenes: int = 3000
    num_test_scenes: int = 400
    batch_size: int = 32
    region_size: int = 32
    word_size: int = 16


FULL = CaptionsConfig(
    (CaptionerConfig("attention", 700, 0.005, 64), CaptionerConfig("state", 2000, 0.002, 128))
)
QUICK = CaptionsConfig(
    (CaptionerConfig("attention", 250, 0.005, 64), CaptionerConfig("state", 250, 0.002, 64)),
    scenes=1500,
    num_test_scenes=200,
)


@studies.register("captions")
def captions(*, seed: int, quick: bool) -> Finding:
    """Images of two colored shapes with one correct caption each, tested on pairs of shapes that never
    occur together in training.
    """
    config = QUICK if quick else FULL
    rows: list[dict[str, Value]] = []
    lines: list[LineSeries] = []
    attending: Captioner | None = None
    with seeded(seed, "pairs of shapes") as generator:
        seen, held_out = split_pairs(held_out=HELD_OUT, generator=generator)
    for captioner in config.captioners:
        with seeded(seed, "captions", captioner.view) as generator:
            model, training, row = train_captioner(captioner, config, seen, held_out, generator)
        rows.append({"captioner": VIEWS[captioner.view], "updates": captioner.steps, **row})
        lines.append(LineSeries(VIEWS[captioner.view], range(len(training.losses)), training.losses))
        if captioner.view == "attention":
            attending = model
    assert attending is not None
    with seeded(seed, "saccades") as generator:
        scenes = draw_scenes(2, held_out, generator)
        figures = [
            draw_image_attention(caption_attention(attending, scene), ident=f"saccades-{number}")
            for number, scene in enumerate(scenes, start=1)
        ]
        drawn = _candidates(attending, scenes[0], seed)
    return Finding(
        claim=(
            "A captioner with attention over image regions attends to what it names, and describes"
            " combinations that it has never seen."
        ),
        conclusion=_conclude(rows),
        rows=rows,
        curves=[LineChart("Loss", "update", "nats per word", lines)],
        figures=figures,
        notes=[
            (
                f"Updates on {config.batch_size} noisy images of {GRID_SIZE} × {GRID_SIZE} squares; a"
                " quarter of all pairs of shapes is held out."
            ),
            (
                "Weight on the right square: measured while a color or a shape is named, with the true"
                f" words as the prefix. Uniform attention gives {CHANCE:.2f}."
            ),
            f"Sampled captions for '{' '.join(scenes[0].caption)}', with their log-probabilities: "
            + "; ".join(drawn)
            + ".",
        ],
    )


def _conclude(rows: Sequence[dict[str, Value]]) -> str:
    attending, once = rows
    return (
        f"For images with unseen pairs of shapes, {float(attending['exact, held-out pairs']):.0%} of"
        f" captions are exactly right after {attending['updates']} updates with attention, and"
        f" {float(once['exact, held-out pairs']):.0%} after {once['updates']} with a captioner that sees"
        " the image only once. While a shape is named,"
        f" {float(attending['weight on the right square']):.0%} of the attention is on its square; chance"
        f" is {CHANCE:.0%}."
    )


def train_captioner(
    captioner: CaptionerConfig,
    config: CaptionsConfig,
    seen: ShapePairs,
    held_out: ShapePairs,
    generator: torch.Generator,
) -> tuple[Captioner, TrainingRecord, dict[str, Value]]:
    """A captioner with one kind of image input, its training curve, and its accuracy on images of both
    kinds of pairs.
    """
    model = build_study_captioner(
        captioner.view,
        region_size=config.region_size,
        word_size=config.word_size,
        hidden_size=captioner.hidden_size,
    )
    images, words = scenes_to_batch(draw_scenes(config.scenes, seen, generator), generator)

    def loss() -> Tensor:
        rows = torch.randint(len(images), (config.batch_size,), generator=generator)
        logits, _ = model(images[rows] - GRAY, words[rows, :-1])
        return F.cross_entropy(logits.flatten(0, 1), words[rows, 1:].flatten())

    training = train_small(model, loss, steps=captioner.steps, learning_rate=captioner.learning_rate)
    row: dict[str, Value] = {
        "exact, seen pairs": _exact(model, draw_scenes(config.num_test_scenes, seen, generator), generator),
        "exact, held-out pairs": _exact(
            model, draw_scenes(config.num_test_scenes, held_out, generator), generator
        ),
        **_word_by_word(model, draw_scenes(config.num_test_scenes, held_out, generator), generator),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
    }
    return model, training, row


def build_study_captioner(view: str, *, region_size: int, word_size: int, hidden_size: int) -> Captioner:
    network = RegionBackbone(
        channels=3, hidden_size=region_size, region_pixels=CELL_SIZE, rows=GRID_SIZE, columns=GRID_SIZE
    )
    return build_captioner(
        network,
        cell_maker("gru"),
        num_words=len(WORDS),
        num_regions=GRID_SIZE**2,
        word_size=word_size,
        hidden_size=hidden_size,
        view=view,
    )


def _decode_captions(model: Captioner, images: Tensor, chooser: TokenChooser) -> list[list[Hypothesis]]:
    """The captions of each image, most likely first."""
    special_tokens = SpecialTokens(WORD_IDS[START], WORD_IDS[END], (WORD_IDS[START],))
    whole = torch.ones(images.shape[:2], dtype=torch.bool)
    return StepwiseSearch(special_tokens, chooser, max_tokens=MAX_CAPTION_TOKENS).run(
        model, SourceBatch.from_tokens(images - GRAY, whole)
    )


def _exact(model: Captioner, scenes: Sequence[Scene], generator: torch.Generator) -> float:
    """The share of scenes whose greedy caption is entirely correct."""
    captions = _decode_captions(model, scenes_to_batch(scenes, generator)[0], Greedy())
    return sum(_words(best) == scene.caption for (best,), scene in zip(captions, scenes, strict=True)) / len(
        scenes
    )


def _words(caption: Hypothesis) -> list[str]:
    return [WORDS[word] for word in caption.tokens]


@torch.no_grad()
def _word_by_word(model: Captioner, scenes: Sequence[Scene], generator: torch.Generator) -> dict[str, Value]:
    """With teacher forcing: the accuracy of colors and shapes, and the attention weight on the correct
    square.
    """
    images, words = scenes_to_batch(scenes, generator)
    logits, alignment = model(images - GRAY, words[:, :-1])
    is_right = logits.argmax(dim=-1) == words[:, 1:]  # (batch, time)
    named = [
        (row, step, region)
        for row, scene in enumerate(scenes)
        for step, region in enumerate(scene.regions)
        if region is not None
    ]
    rows, steps, regions = torch.tensor(named).unbind(1)
    weight: Value = "-" if alignment is None else alignment[rows, steps, regions].mean().item()
    return {
        "colors and shapes, one by one": is_right[rows, steps].float().mean().item(),
        "weight on the right square": weight,
    }


@torch.no_grad()
def caption_attention(model: Captioner, scene: Scene) -> ImageAttentionMap:
    """The attention weights for every word of the generated caption."""
    image = scene_to_image(scene)
    ((caption,),) = _decode_captions(model, image.unsqueeze(0), Greedy())
    _, alignment = model(image.unsqueeze(0) - GRAY, torch.tensor([[WORD_IDS[START], *caption.tokens]]))
    assert alignment is not None
    pixels: list[list[Pixel]] = [
        [(round(r, 2), round(g, 2), round(b, 2)) for r, g, b in line]
        for line in image.permute(1, 2, 0).tolist()
    ]
    views = [
        AttentionView(word, _grid(weights))
        for word, weights in zip([*_words(caption), END], alignment[0], strict=True)
    ]
    return ImageAttentionMap("Attention for each word", pixels, [AttentionView("the image"), *views])


def _grid(weights: Float[Tensor, " regions"]) -> list[list[float]]:
    return [[round(float(weight), 4) for weight in line] for line in weights.view(GRID_SIZE, GRID_SIZE)]


def _candidates(model: Captioner, scene: Scene, seed: int) -> list[str]:
    """Different captions sampled for one image, most likely first."""
    (captions,) = _decode_captions(
        model,
        scene_to_image(scene).unsqueeze(0),
        MultinomialSampler(temperature=2.5, seed=seed, num_samples=40),
    )
    distinct = {tuple(caption.tokens): caption for caption in captions if caption.ended}
    return [f"{' '.join(_words(caption))} ({caption.score:.2f})" for caption in list(distinct.values())[:3]]
