"""Does a Transformer need a warm-up? Norms before and after the sub-layers, with and without a slow start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.models.settings import TransformerSettings
from seqlab.models.transformer import Transformer
from seqlab.pages.report_data import Curve, Reference, Series
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.small_text import SmallText, small_text
from seqlab.studies.small_training import Training, seeded, train_small

Placement = Literal["pre", "post"]
PLACEMENTS: tuple[Placement, ...] = ("pre", "post")
FREQUENCIES = "frequencies of characters"
SHOWN = 60
"""Points of a loss curve."""
VALID_ROWS = 200
MATTERS = 0.02
"""Nats by which one must end worse to be called so."""


@dataclass(frozen=True)
class Sizes:
    """How much is trained."""

    depths: tuple[int, ...]
    steps: int
    warm_up: int
    time: int
    rate: float
    hidden_size: int = 32
    batch_size: int = 16


FULL = Sizes(depths=(2, 4, 8), steps=250, warm_up=50, time=24, rate=0.004)
QUICK = Sizes(depths=(2, 6), steps=40, warm_up=10, time=16, rate=0.01)


class SmallTransformer(nn.Module):
    """A causal Transformer over characters."""

    def __init__(self, num_symbols: int, depth: int, placement: Placement, sizes: Sizes) -> None:
        super().__init__()
        settings = TransformerSettings(layers=depth, hidden_size=sizes.hidden_size, heads=4, norm=placement, dropout=0.0)
        self.embed = nn.Embedding(num_symbols, sizes.hidden_size)
        self.body = Transformer.build(settings, causal=True)
        self.head = nn.Linear(sizes.hidden_size, num_symbols)

    def nats(self, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]) -> Float[Tensor, ""]:
        features, _ = self.body(self.embed(tokens), torch.ones_like(tokens, dtype=torch.bool))
        return F.cross_entropy(self.head(features).flatten(0, 1), targets.flatten())


@studies.register("warm_up")
def warm_up(*, seed: int, quick: bool) -> Finding:
    """The same data, rate and updates; only the depth, the place of the norm and the first steps differ."""
    sizes = QUICK if quick else FULL
    text = small_text()
    rows: list[dict[str, Value]] = []
    series: list[Series] = []
    for depth in sizes.depths:
        for placement in PLACEMENTS:
            for steps in (0, sizes.warm_up):
                training, valid = _train(text, depth, placement, steps, sizes, seed)
                rows.append({"layers": depth, "norm": placement, "warm-up": steps, "score": valid})
                if depth == sizes.depths[-1]:
                    series.append(_curve(_called(placement, steps), training))
    trained, held_out = (_frequencies_alone(text, characters) for characters in (text.train, text.valid_rows(sizes.time, VALID_ROWS)[1]))
    return Finding(
        claim="With the norm before each sub-layer a Transformer trains without warm-up, and sometimes ends worse than one with the norm after.",
        found=_found(rows, sizes, held_out),
        rows=rows,
        curves=[
            Curve(
                f"Training loss of {sizes.depths[-1]} layers", "update", "nats per character", series, references=[Reference(FREQUENCIES, trained)]
            ),
            Curve("Held-out score by depth", "layers", "nats per character", _by_depth(rows, sizes), references=[Reference(FREQUENCIES, held_out)]),
        ],
        notes=[
            f"Width {sizes.hidden_size}, {sizes.steps} updates of {sizes.batch_size} windows of {sizes.time} characters, rate {sizes.rate:g}.",
            f"A warm-up reaches the rate in equal parts over {sizes.warm_up} updates. Scores are nats per character on held-out text.",
            f"One seed and few updates: a difference below {MATTERS:g} counts as none.",
        ],
    )


def _train(text: SmallText, depth: int, placement: Placement, warm: int, sizes: Sizes, seed: int) -> tuple[Training, float]:
    with seeded(seed, "warm_up", depth) as generator:
        model = SmallTransformer(text.num_symbols, depth, placement, sizes)

        def loss() -> Tensor:
            return model.nats(*text.draw(sizes.batch_size, sizes.time, generator))

        training = train_small(model, loss, steps=sizes.steps, rate=sizes.rate, warm_up=warm)
    with torch.no_grad():
        return training, model.nats(*text.valid_rows(sizes.time, VALID_ROWS)).item()


def _frequencies_alone(text: SmallText, characters: Int[Tensor, "..."]) -> float:
    """Nats per character of a model that knows only how often each one stands in the training part."""
    counts = torch.bincount(text.train, minlength=text.num_symbols) + 1.0
    return -(counts / counts.sum()).log()[characters].mean().item()


def _called(placement: str, warm: int) -> str:
    return f"{placement}, {'with' if warm else 'no'} warm-up"


def _curve(name: str, training: Training) -> Series:
    every = max(1, len(training.losses) // SHOWN)
    return Series(name, range(1, len(training.losses) + 1, every), training.losses[::every])


def _by_depth(rows: list[dict[str, Value]], sizes: Sizes) -> list[Series]:
    return [
        Series(_called(norm, warm), sizes.depths, [_score(rows, depth, norm, warm) for depth in sizes.depths])
        for norm in PLACEMENTS
        for warm in (0, sizes.warm_up)
    ]


def _score(rows: list[dict[str, Value]], depth: int, norm: str, warm: int) -> float:
    return next(float(row["score"]) for row in rows if (row["layers"], row["norm"], row["warm-up"]) == (depth, norm, warm))


def _found(rows: list[dict[str, Value]], sizes: Sizes, frequencies: float) -> str:
    deepest = sizes.depths[-1]
    before, after = (
        f"{_score(rows, deepest, norm, 0):.3f} without and {_score(rows, deepest, norm, sizes.warm_up):.3f} with warm-up" for norm in PLACEMENTS
    )
    best = {norm: [min(_score(rows, depth, norm, warm) for warm in (0, sizes.warm_up)) for depth in sizes.depths] for norm in PLACEMENTS}
    gaps = {depth: pre - post for depth, pre, post in zip(sizes.depths, best["pre"], best["post"], strict=True)}
    worse = [f"{gap:.3f} at {depth} layers" for depth, gap in gaps.items() if gap > MATTERS]
    ends = (
        f"The norm before ends worse by {', '.join(worse)}"
        if worse
        else f"That the norm before ends worse by over {MATTERS:g} did not show at any depth"
    )
    return (
        f"{deepest} layers with the norm before end at {before}, with the norm after at {after} (frequencies alone {frequencies:.3f}). "
        f"{ends}, comparing the better of both starts."
    )
