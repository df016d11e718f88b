"""Does a captioner that looks at a picture again for every word describe it better than one that saw it once?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from seqlab.datasets.shapes import GRID, SQUARE, Scene
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.search import Sources, Symbols
from seqlab.decoding.stepwise import SinglePath
from seqlab.decoding.token_choice import Chooser, Likeliest, Roulette
from seqlab.models.images.captioner import Captioner, build_captioner
from seqlab.models.images.regions import RegionNetwork
from seqlab.pages.charts.image_attention import Look, Pixel, Spotlights, draw_spotlights
from seqlab.pages.report_data import Curve, Series
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.drawn_shapes import END, LONGEST, START, WORD_IDS, WORDS, Pairs, as_batch, draw_scenes, picture_of, split_pairs
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.kit.small_training import Training, seeded, train_small

VIEWS = {"attention": "attention", "state": "picture as first state"}
CHANCE = 1 / GRID**2
"""The weight that a square gets when all are looked at alike."""
HELD_OUT = 0.25
GREY = 0.9
"""What is taken off every pixel: pictures are mostly white."""


@dataclass(frozen=True)
class Plan:
    """One captioner and how it is trained; rate and width were chosen for each view."""

    view: str
    steps: int
    rate: float
    hidden_size: int


@dataclass(frozen=True)
class Sizes:
    """How much is trained."""

    plans: tuple[Plan, ...]
    scenes: int = 3000
    asked: int = 400
    batch_size: int = 32
    region_size: int = 32
    word_size: int = 16


FULL = Sizes((Plan("attention", 700, 0.005, 64), Plan("state", 2000, 0.002, 128)))
QUICK = Sizes((Plan("attention", 250, 0.005, 64), Plan("state", 250, 0.002, 64)), scenes=1500, asked=200)


@studies.register("captions")
def captions(*, seed: int, quick: bool) -> Finding:
    """Two coloured shapes, one true sentence; asked for pairs of shapes that were never seen together."""
    sizes = QUICK if quick else FULL
    rows: list[dict[str, Value]] = []
    lines: list[Series] = []
    looking: Captioner | None = None
    with seeded(seed, "pairs of shapes") as generator:
        seen, held_out = split_pairs(held_out=HELD_OUT, generator=generator)
    for plan in sizes.plans:
        with seeded(seed, "captions", plan.view) as generator:
            model, training, row = train_captioner(plan, sizes, seen, held_out, generator)
        rows.append({"captioner": VIEWS[plan.view], "updates": plan.steps, **row})
        lines.append(Series(VIEWS[plan.view], range(len(training.losses)), training.losses))
        if plan.view == "attention":
            looking = model
    assert looking is not None
    with seeded(seed, "saccades") as generator:
        scenes = draw_scenes(2, held_out, generator)
        pictures = [draw_spotlights(saccades(looking, scene), ident=f"saccades-{number}") for number, scene in enumerate(scenes, start=1)]
        drawn = _candidates(looking, scenes[0], seed)
    return Finding(
        claim="A captioner that looks at regions for every word sees what it names, and describes combinations that it never saw.",
        found=_found(rows),
        rows=rows,
        curves=[Curve("Loss", "update", "nats per word", lines)],
        pictures=pictures,
        notes=[
            f"Updates of {sizes.batch_size} pictures of {GRID} by {GRID} squares with noise; a quarter of all pairs of shapes is held out.",
            f"Weight on the right square: while a colour or a shape is named, after the true words. Looking everywhere alike gives {CHANCE:.2f}.",
            f"Captions drawn for '{' '.join(scenes[0].caption)}', with their log-probabilities: " + "; ".join(drawn) + ".",
        ],
    )


def _found(rows: Sequence[dict[str, Value]]) -> str:
    looking, once = rows
    return (
        f"Of pictures with shapes that were never seen together, {float(looking['exact, held-out pairs']):.0%} are described word for word after "
        f"{looking['updates']} updates with attention, {float(once['exact, held-out pairs']):.0%} after {once['updates']} by a captioner that saw "
        f"the picture once. While a shape is named, {float(looking['weight on the right square']):.0%} of the attention lies on its square; "
        f"{CHANCE:.0%} would be chance."
    )


def train_captioner(
    plan: Plan, sizes: Sizes, seen: Pairs, held_out: Pairs, generator: torch.Generator
) -> tuple[Captioner, Training, dict[str, Value]]:
    """A captioner that sees pictures in one way, how its training went, and how well it describes pictures of both kinds of pairs."""
    model = build_model(plan.view, region_size=sizes.region_size, word_size=sizes.word_size, hidden_size=plan.hidden_size)
    pictures, words = as_batch(draw_scenes(sizes.scenes, seen, generator), generator)

    def loss() -> Tensor:
        rows = torch.randint(len(pictures), (sizes.batch_size,), generator=generator)
        logits, _ = model(pictures[rows] - GREY, words[rows, :-1])
        return F.cross_entropy(logits.flatten(0, 1), words[rows, 1:].flatten())

    training = train_small(model, loss, steps=plan.steps, rate=plan.rate)
    row: dict[str, Value] = {
        "exact, seen pairs": _exact(model, draw_scenes(sizes.asked, seen, generator), generator),
        "exact, held-out pairs": _exact(model, draw_scenes(sizes.asked, held_out, generator), generator),
        **_word_by_word(model, draw_scenes(sizes.asked, held_out, generator), generator),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
    }
    return model, training, row


def build_model(view: str, *, region_size: int, word_size: int, hidden_size: int) -> Captioner:
    network = RegionNetwork(channels=3, hidden_size=region_size, square=SQUARE, rows=GRID, columns=GRID)
    return build_captioner(
        network, cell_maker("gru"), num_words=len(WORDS), num_regions=GRID**2, word_size=word_size, hidden_size=hidden_size, view=view
    )


def _write(model: Captioner, pictures: Tensor, chooser: Chooser) -> list[list[Hypothesis]]:
    """The captions of each picture, the likeliest first."""
    symbols = Symbols(WORD_IDS[START], WORD_IDS[END], (WORD_IDS[START],))
    whole = torch.ones(pictures.shape[:2], dtype=torch.bool)
    return SinglePath(symbols, chooser, max_tokens=LONGEST).run(model, Sources.of(pictures - GREY, whole))


def _exact(model: Captioner, scenes: Sequence[Scene], generator: torch.Generator) -> float:
    """The share of scenes whose likeliest words are the whole true caption."""
    found = _write(model, as_batch(scenes, generator)[0], Likeliest())
    return sum(_words(best) == scene.caption for (best,), scene in zip(found, scenes, strict=True)) / len(scenes)


def _words(caption: Hypothesis) -> list[str]:
    return [WORDS[word] for word in caption.tokens]


@torch.no_grad()
def _word_by_word(model: Captioner, scenes: Sequence[Scene], generator: torch.Generator) -> dict[str, Value]:
    """After the true words before: how often a colour or a shape is right, and how much weight lies on its square meanwhile."""
    pictures, words = as_batch(scenes, generator)
    logits, alignment = model(pictures - GREY, words[:, :-1])
    is_right = logits.argmax(dim=-1) == words[:, 1:]  # (batch, time)
    named = [(row, step, region) for row, scene in enumerate(scenes) for step, region in enumerate(scene.regions) if region is not None]
    rows, steps, regions = torch.tensor(named).unbind(1)
    weight: Value = "-" if alignment is None else alignment[rows, steps, regions].mean().item()
    return {"colours and shapes, one by one": is_right[rows, steps].float().mean().item(), "weight on the right square": weight}


@torch.no_grad()
def saccades(model: Captioner, scene: Scene) -> Spotlights:
    """For every word of the model's own caption, where it looked."""
    picture = picture_of(scene)
    ((caption,),) = _write(model, picture.unsqueeze(0), Likeliest())
    _, alignment = model(picture.unsqueeze(0) - GREY, torch.tensor([[WORD_IDS[START], *caption.tokens]]))
    assert alignment is not None
    pixels: list[list[Pixel]] = [[(round(r, 2), round(g, 2), round(b, 2)) for r, g, b in line] for line in picture.permute(1, 2, 0).tolist()]
    looks = [Look(word, _grid(weights)) for word, weights in zip([*_words(caption), END], alignment[0], strict=True)]
    return Spotlights("Where it looks for each word", pixels, [Look("the picture"), *looks])


def _grid(weights: Float[Tensor, " regions"]) -> list[list[float]]:
    return [[round(float(weight), 4) for weight in line] for line in weights.view(GRID, GRID)]


def _candidates(model: Captioner, scene: Scene, seed: int) -> list[str]:
    """Different captions drawn for one picture, the likeliest first."""
    (found,) = _write(model, picture_of(scene).unsqueeze(0), Roulette(temperature=2.5, seed=seed, num_draws=40))
    different = {tuple(caption.tokens): caption for caption in found if caption.ended}
    return [f"{' '.join(_words(caption))} ({caption.score:.2f})" for caption in list(different.values())[:3]]
