"""How many layers are useful? A character language model of increasing depth."""

from __future__ import annotations

from dataclasses import dataclass

from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_language_model import SmallLanguageModel, valid_nats
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.kit.small_text import SmallText, small_text
from seqlab.studies.kit.small_training import seeded, train_small

REAL_GAIN = 0.02
"""Nats per character below which a difference may be chance."""


@dataclass(frozen=True)
class DepthConfig:
    """Sizes of the training."""

    depths: tuple[int, ...]
    steps: int
    time: int
    batch_size: int = 16
    hidden_size: int = 32


FULL, QUICK = (
    DepthConfig(depths=(1, 2, 4, 6, 8, 12), steps=300, time=32),
    DepthConfig(depths=(1, 2, 10), steps=30, time=16),
)


@studies.register("depth")
def depth(*, seed: int, quick: bool) -> Finding:
    """The same width, data and number of updates at every depth, with and without residual sums."""
    config = QUICK if quick else FULL
    text = small_text()
    rows = [_row(text, layers, config, seed) for layers in config.depths]
    series = [
        LineSeries(name, config.depths, [float(row[name]) for row in rows]) for name in ("plain", "residual")
    ]
    return Finding(
        claim="Four to eight layers are useful; more than eight bring no real gain.",
        conclusion=f"After {config.steps} updates: {_verdict(rows, 'plain')}; {_verdict(rows, 'residual')}.",
        rows=rows,
        curves=[
            LineChart(
                "Loss vs. depth",
                "layers",
                "nats per character",
                series,
                references=[ReferenceLine("frequencies of characters", text.unigram_nats)],
            )
        ],
        notes=[
            (
                f"GRU layers of {config.hidden_size} units, {config.steps} updates on {config.batch_size}"
                f" windows of {config.time} characters, held-out text."
            )
        ],
    )


def _verdict(rows: list[dict[str, Value]], kind: str) -> str:
    """The best depth, and whether more than eight layers beat the best of up to eight."""
    scores = {int(row["layers"]): float(row[kind]) for row in rows}
    best = min(scores, key=lambda layers: scores[layers])
    gain = min(score for layers, score in scores.items() if layers <= 8) - min(
        score for layers, score in scores.items() if layers > 8
    )
    layers = "one layer is" if best == 1 else f"{best} layers are"
    above = (
        f"more than eight bring {gain:.3f} nats" if gain > REAL_GAIN else "more than eight bring no real gain"
    )
    return (
        f"{kind} stacks: {layers} best ({scores[best]:.3f} nats per character; one layer:"
        f" {scores[1]:.3f}), {above}"
    )


def _row(text: SmallText, layers: int, config: DepthConfig, seed: int) -> dict[str, Value]:
    scores: dict[str, Value] = {}
    num_parameters, milliseconds = 0, 0.0
    for name, residual in (("plain", False), ("residual", True)):
        with seeded(seed, "depth") as generator:
            model = SmallLanguageModel(
                text.num_symbols, cell_maker("gru"), config.hidden_size, layers=layers, residual=residual
            )
            training = train_small(
                model,
                lambda model=model, generator=generator: model.nats(
                    *text.draw(config.batch_size, config.time, generator)
                ),  # type: ignore[misc]  # defaults of a lambda have no types
                steps=config.steps,
            )
            scores[name] = valid_nats(model, text, time=config.time)
        num_parameters = sum(parameter.numel() for parameter in model.stack.parameters())
        milliseconds = 1000 * training.seconds / config.steps
    return {"layers": layers, "parameters": num_parameters, **scores, "ms per update": milliseconds}
