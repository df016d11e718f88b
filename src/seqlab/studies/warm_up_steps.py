"""How long must a warm-up be? Post-norm Transformers with Adam and SGD, and with a very small learning
rate instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from torch import Tensor

from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_text import SmallText, small_text
from seqlab.studies.kit.small_training import TrainingRecord, loss_series, seeded, train_small
from seqlab.studies.kit.small_transformer import SmallTransformer, unigram_valid_nats
from seqlab.training.optimizers.adamw import AdamW
from seqlab.training.optimizers.sgd import SGD

ADAM, SGD_FAST, SGD_SLOW, SMALL = (
    "Adam",
    "SGD, high rate",
    "SGD, lower rate",
    "Adam, very small constant rate",
)
FREQUENCIES = "frequencies of characters"
LEARNED = 0.15
"""A network counts as having learned if it is this many nats better than the frequencies of characters."""
MATTERS = 0.05
"""A warm-up counts as needed if it helps by at least this many nats."""


@dataclass(frozen=True)
class WarmUpStepsConfig:
    """Sizes of the training, and the warm-ups to compare."""

    layers: int
    steps: int
    time: int
    warm_ups: dict[str, tuple[int, ...]]
    learning_rates: dict[str, float]
    batch_size: int = 16


FULL = WarmUpStepsConfig(
    layers=8,
    steps=200,
    time=24,
    warm_ups={ADAM: (0, 10, 20, 40, 80, 120), SGD_FAST: (0, 20, 80), SGD_SLOW: (0, 80), SMALL: (0,)},
    learning_rates={ADAM: 0.006, SGD_FAST: 0.25, SGD_SLOW: 0.05, SMALL: 0.0006},
)
QUICK = WarmUpStepsConfig(
    layers=6,
    steps=50,
    time=16,
    warm_ups={ADAM: (0, 10, 30), SGD_FAST: (0, 30), SGD_SLOW: (0,), SMALL: (0,)},
    learning_rates={ADAM: 0.01, SGD_FAST: 0.3, SGD_SLOW: 0.05, SMALL: 0.0003},
)


@studies.register("warm_up_steps")
def warm_up_steps(*, seed: int, quick: bool) -> Finding:
    """The same post-norm network and data; only the optimizer, its learning rate and the warm-up differ."""
    config = QUICK if quick else FULL
    text = small_text()
    rows: list[dict[str, Value]] = []
    lines: list[LineSeries] = []
    for name, warm_ups in config.warm_ups.items():
        for warm in warm_ups:
            training, valid = _train(text, name, warm, config, seed)
            rows.append(
                {
                    "optimizer": name,
                    "rate": config.learning_rates[name],
                    "warm-up": warm,
                    "score": valid,
                    "roughest rise": _rise(training),
                }
            )
            if name in (ADAM, SMALL) and warm in (0, warm_ups[-1]):
                lines.append(loss_series(f"{name}, warm-up {warm}" if name == ADAM else name, training))
    frequencies = unigram_valid_nats(text, time=config.time)
    alone = ReferenceLine(FREQUENCIES, frequencies)
    sweep = [
        LineSeries(name, warm_ups, [_score(rows, name, warm) for warm in warm_ups])
        for name, warm_ups in config.warm_ups.items()
    ]
    return Finding(
        claim=(
            "A post-norm Transformer fails without a warm-up, with Adam and with SGD, and the length of"
            " the warm-up matters; a very small constant learning rate is stable but slow."
        ),
        conclusion=_conclude(rows, config, frequencies),
        rows=rows,
        curves=[
            LineChart(
                "Held-out score vs. length of the warm-up",
                "warm-up updates",
                "nats per character",
                sweep,
                references=[alone],
            ),
            LineChart("Training loss", "update", "nats per character", lines, references=[alone]),
        ],
        notes=[
            (
                f"{config.layers} layers of width 32, {config.steps} updates on {config.batch_size}"
                f" windows of {config.time} characters."
            ),
            (
                "Gradients are clipped at 1. Learning rates follow a cosine after the warm-up, except"
                " the very small one, which is constant."
            ),
            "SGD uses a momentum of 0.9.",
            (
                "The roughest rise is the largest amount by which the training loss, averaged over 5"
                " updates, exceeded its best value so far."
            ),
            f"One seed: a warm-up that helps by less than {MATTERS:g} nats is treated as not needed.",
        ],
    )


def _train(
    text: SmallText, name: str, warm: int, config: WarmUpStepsConfig, seed: int
) -> tuple[TrainingRecord, float]:
    build_optimizer = partial(SGD, momentum=0.9) if name in (SGD_FAST, SGD_SLOW) else AdamW
    with seeded(seed, "warm_up_steps") as generator:
        model = SmallTransformer(text.num_symbols, layers=config.layers, norm="post")

        def loss() -> Tensor:
            return model.nats(*text.draw(config.batch_size, config.time, generator))

        training = train_small(
            model,
            loss,
            steps=config.steps,
            learning_rate=config.learning_rates[name],
            build_optimizer=build_optimizer,
            warm_up=warm,
            constant=name == SMALL,
        )
    return training, model.valid_nats(text, time=config.time)


def _rise(training: TrainingRecord) -> float:
    """The largest increase of the loss above its previous minimum."""
    means = [sum(training.losses[start : start + 5]) / 5 for start in range(0, len(training.losses) - 4, 5)]
    best, worst = means[0], 0.0
    for mean in means:
        best = min(best, mean)
        worst = max(worst, mean - best)
    return worst


def _score(rows: list[dict[str, Value]], name: str, warm: int) -> float:
    return next(float(row["score"]) for row in rows if (row["optimizer"], row["warm-up"]) == (name, warm))


def _conclude(rows: list[dict[str, Value]], config: WarmUpStepsConfig, frequencies: float) -> str:
    adam = ", ".join(f"{_score(rows, ADAM, warm):.3f} with {warm}" for warm in config.warm_ups[ADAM])
    fast = {warm: _score(rows, SGD_FAST, warm) for warm in config.warm_ups[SGD_FAST]}
    best = min(fast[warm] for warm in fast if warm)
    slow = [_score(rows, SGD_SLOW, warm) for warm in config.warm_ups[SGD_SLOW]]
    helps = "which a warm-up improves" if fast[0] - best > MATTERS else "which a warm-up does not improve"
    learns = "learns without a warm-up" if slow[0] < frequencies - LEARNED else "hardly learns either"
    warmed = f", with one {slow[-1]:.3f}" if len(slow) > 1 else ""
    small, longest = _score(rows, SMALL, 0), min(_score(rows, ADAM, warm) for warm in config.warm_ups[ADAM])
    pace = "slower than the best warm-up" if small > longest + MATTERS else "no worse than the best warm-up"
    return (
        f"Adam at {config.learning_rates[ADAM]:g} ends at {adam} updates of warm-up (character"
        f" frequencies alone: {frequencies:.3f}). SGD at {config.learning_rates[SGD_FAST]:g} ends at"
        f" {fast[0]:.3f}, {helps} ({best:.3f}); at {config.learning_rates[SGD_SLOW]:g}, it {learns}"
        f" ({slow[0]:.3f}{warmed}). A constant {config.learning_rates[SMALL]:g} without warm-up reaches"
        f" {small:.3f}, {pace}."
    )
