"""Does a Transformer need a warm-up? Norms before and after the sub-layers, with and without a slow start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from seqlab.pages.report_data import Curve, Reference, Series
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_text import SmallText, small_text
from seqlab.studies.kit.small_training import Training, loss_series, seeded, train_small
from seqlab.studies.kit.small_transformer import VALID_ROWS, SmallTransformer

Placement = Literal["pre", "post"]
PLACEMENTS: tuple[Placement, ...] = ("pre", "post")
FREQUENCIES = "frequencies of characters"
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
                    series.append(loss_series(_called(placement, steps), training))
    trained, held_out = (text.by_frequencies(characters) for characters in (text.train, text.valid_rows(sizes.time, VALID_ROWS)[1]))
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
        model = SmallTransformer(text.num_symbols, layers=depth, norm=placement, hidden_size=sizes.hidden_size)

        def loss() -> Tensor:
            return model.nats(*text.draw(sizes.batch_size, sizes.time, generator))

        training = train_small(model, loss, steps=sizes.steps, rate=sizes.rate, warm_up=warm)
    return training, model.valid_nats(text, time=sizes.time)


def _called(placement: str, warm: int) -> str:
    return f"{placement}, {'with' if warm else 'no'} warm-up"


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
