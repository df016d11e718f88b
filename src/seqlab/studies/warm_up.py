"""Does a Transformer need a warm-up? Pre-norm and post-norm, with and without a warm-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_text import SmallText, small_text
from seqlab.studies.kit.small_training import TrainingRecord, loss_series, seeded, train_small
from seqlab.studies.kit.small_transformer import VALID_ROWS, SmallTransformer

Placement = Literal["pre", "post"]
PLACEMENTS: tuple[Placement, ...] = ("pre", "post")
FREQUENCIES = "frequencies of characters"
MATTERS = 0.02
"""Smaller differences, in nats, are treated as no difference."""


@dataclass(frozen=True)
class WarmUpConfig:
    """Sizes of the training."""

    depths: tuple[int, ...]
    steps: int
    warm_up: int
    time: int
    learning_rate: float
    hidden_size: int = 32
    batch_size: int = 16


FULL = WarmUpConfig(depths=(2, 4, 8), steps=250, warm_up=50, time=24, learning_rate=0.004)
QUICK = WarmUpConfig(depths=(2, 6), steps=40, warm_up=10, time=16, learning_rate=0.01)


@studies.register("warm_up")
def warm_up(*, seed: int, quick: bool) -> Finding:
    """The same data, learning rate and updates; only the depth, the position of the norm and the warm-up
    differ.
    """
    config = QUICK if quick else FULL
    text = small_text()
    rows: list[dict[str, Value]] = []
    series: list[LineSeries] = []
    for depth in config.depths:
        for placement in PLACEMENTS:
            for steps in (0, config.warm_up):
                training, valid = _train(text, depth, placement, steps, config, seed)
                rows.append({"layers": depth, "norm": placement, "warm-up": steps, "score": valid})
                if depth == config.depths[-1]:
                    series.append(loss_series(_series_name(placement, steps), training))
    trained, held_out = (
        text.unigram_nats_of(characters)
        for characters in (text.train, text.valid_rows(config.time, VALID_ROWS)[1])
    )
    return Finding(
        claim=(
            "A pre-norm Transformer trains without warm-up, and sometimes ends worse than a post-norm one."
        ),
        conclusion=_conclude(rows, config, held_out),
        rows=rows,
        curves=[
            LineChart(
                f"Training loss of {config.depths[-1]} layers",
                "update",
                "nats per character",
                series,
                references=[ReferenceLine(FREQUENCIES, trained)],
            ),
            LineChart(
                "Held-out score by depth",
                "layers",
                "nats per character",
                _by_depth(rows, config),
                references=[ReferenceLine(FREQUENCIES, held_out)],
            ),
        ],
        notes=[
            (
                f"Width {config.hidden_size}, {config.steps} updates on {config.batch_size} windows of"
                f" {config.time} characters, learning rate {config.learning_rate:g}."
            ),
            (
                f"The warm-up increases the learning rate linearly over {config.warm_up} updates. Scores"
                " are nats per character on held-out text."
            ),
            f"One seed and few updates: differences below {MATTERS:g} are treated as no difference.",
        ],
    )


def _train(
    text: SmallText, depth: int, placement: Placement, warm: int, config: WarmUpConfig, seed: int
) -> tuple[TrainingRecord, float]:
    with seeded(seed, "warm_up", depth) as generator:
        model = SmallTransformer(
            text.num_symbols, layers=depth, norm=placement, hidden_size=config.hidden_size
        )

        def loss() -> Tensor:
            return model.nats(*text.draw(config.batch_size, config.time, generator))

        training = train_small(
            model, loss, steps=config.steps, learning_rate=config.learning_rate, warm_up=warm
        )
    return training, model.valid_nats(text, time=config.time)


def _series_name(placement: str, warm: int) -> str:
    return f"{placement}, {'with' if warm else 'no'} warm-up"


def _by_depth(rows: list[dict[str, Value]], config: WarmUpConfig) -> list[LineSeries]:
    return [
        LineSeries(
            _series_name(norm, warm),
            config.depths,
            [_score(rows, depth, norm, warm) for depth in config.depths],
        )
        for norm in PLACEMENTS
        for warm in (0, config.warm_up)
    ]


def _score(rows: list[dict[str, Value]], depth: int, norm: str, warm: int) -> float:
    return next(
        float(row["score"])
        for row in rows
        if (row["layers"], row["norm"], row["warm-up"]) == (depth, norm, warm)
    )


def _conclude(rows: list[dict[str, Value]], config: WarmUpConfig, frequencies: float) -> str:
    deepest = config.depths[-1]
    before, after = (
        f"{_score(rows, deepest, norm, 0):.3f} without and {_score(rows, deepest, norm, config.warm_up):.3f}"
        " with warm-up"
        for norm in PLACEMENTS
    )
    best = {
        norm: [
            min(_score(rows, depth, norm, warm) for warm in (0, config.warm_up)) for depth in config.depths
        ]
        for norm in PLACEMENTS
    }
    gaps = {
        depth: pre - post for depth, pre, post in zip(config.depths, best["pre"], best["post"], strict=True)
    }
    worse = [f"{gap:.3f} at {depth} layers" for depth, gap in gaps.items() if gap > MATTERS]
    ends = (
        f"Pre-norm ends worse by {', '.join(worse)}"
        if worse
        else f"Pre-norm does not end worse by more than {MATTERS:g} at any depth"
    )
    return (
        f"With {deepest} layers, pre-norm ends at {before}, post-norm at {after} (character frequencies"
        f" alone: {frequencies:.3f}). {ends}, comparing the better of both starts."
    )
