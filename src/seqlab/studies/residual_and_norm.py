"""What do residual connections and LayerNorm each contribute? A deep Transformer without one, without the
other, and without both.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from seqlab.blocks.residual import NormedResidual, PreNorm, Residual, Steps
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_text import SmallText, small_text
from seqlab.studies.kit.small_training import TrainingRecord, loss_series, seeded, train_small
from seqlab.studies.kit.small_transformer import SmallTransformer, unigram_valid_nats

FREQUENCIES = "frequencies of characters"
BOTH = "both"
MATTERS = 0.02
"""Smaller differences, in nats, are treated as no difference."""


class NormOnly(NormedResidual):
    """x' = sublayer(norm(x)): no residual connection."""

    def before_sublayer(self, steps: Steps) -> Steps:
        return self.norm(steps)

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return sublayer_output


class ResidualOnly(Residual):
    """x' = x + sublayer(x): no norm."""

    def before_sublayer(self, steps: Steps) -> Steps:
        return steps

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return steps + sublayer_output


class NoResidualNoNorm(Residual):
    """x' = sublayer(x): neither."""

    def before_sublayer(self, steps: Steps) -> Steps:
        return steps

    def after_sublayer(self, steps: Steps, sublayer_input: Steps, sublayer_output: Steps) -> Steps:
        return sublayer_output


KINDS: dict[str, type[PreNorm | NormOnly | ResidualOnly | NoResidualNoNorm]] = {
    BOTH: PreNorm,
    "no residual connections": NormOnly,
    "no LayerNorm": ResidualOnly,
    "neither": NoResidualNoNorm,
}


@dataclass(frozen=True)
class ResidualAndNormConfig:
    """Sizes of the training."""

    layers: int
    steps: int
    time: int
    learning_rates: tuple[float, ...]
    """Each network is trained with all of these, and the best result counts, because a network without residual
    connections or norm may need another rate.
    """
    batch_size: int = 16


FULL = ResidualAndNormConfig(layers=6, steps=200, time=24, learning_rates=(0.001, 0.004))
QUICK = ResidualAndNormConfig(layers=4, steps=60, time=16, learning_rates=(0.005,))


@studies.register("residual_and_norm")
def residual_and_norm(*, seed: int, quick: bool) -> Finding:
    """The same layers, data and updates; only residual connections and norms differ."""
    config = QUICK if quick else FULL
    text = small_text()
    rows: list[dict[str, Value]] = []
    lines: list[LineSeries] = []
    profiles: list[LineSeries] = []
    for name in KINDS:
        gradients = _gradient_norms(text, name, config, seed)
        profiles.append(LineSeries(name, range(1, config.layers + 1), gradients))
        score, learning_rate, training = min(
            (_train(text, name, learning_rate, config, seed) for learning_rate in config.learning_rates),
            key=lambda tried: tried[0],
        )
        rows.append(
            {
                "around each sublayer": name,
                "score": score,
                "best rate": learning_rate,
                "gradient, lowest / highest layer": gradients[0] / gradients[-1],
            }
        )
        lines.append(loss_series(name, training))
    frequencies = unigram_valid_nats(text, time=config.time)
    alone = ReferenceLine(FREQUENCIES, frequencies)
    return Finding(
        claim=(
            "Residual connections let gradients reach the lower layers, and LayerNorm keeps the scale of"
            " the features stable; a deep Transformer needs both."
        ),
        conclusion=_conclude(rows, config, frequencies),
        rows=rows,
        curves=[
            LineChart(
                "Training loss, each at its best learning rate",
                "update",
                "nats per character",
                lines,
                references=[alone],
            ),
            LineChart("Gradient before the first update", "layer", "norm", profiles, log_y=True),
        ],
        notes=[
            (
                f"{config.layers} pre-norm layers of width 32; all variants keep the final norm before"
                " the output."
            ),
            (
                f"{config.steps} updates on {config.batch_size} windows of {config.time} characters,"
                " gradients clipped at 1."
            ),
            (
                "Learning rates tried:"
                f" {', '.join(f'{learning_rate:g}' for learning_rate in config.learning_rates)}. Scores"
                " are nats per character on held-out text."
            ),
        ],
    )


def _build(text: SmallText, name: str, config: ResidualAndNormConfig) -> SmallTransformer:
    """All variants start with the same weights, since a residual connection draws no random numbers."""
    model = SmallTransformer(text.num_symbols, layers=config.layers, norm="pre")
    kind = KINDS[name]
    for layer in model.backbone.layers:
        for path in ("attention_residual", "feed_forward_residual"):
            norm = getattr(layer, path).norm
            setattr(
                layer,
                path,
                kind(norm, dropout=0.0) if issubclass(kind, NormedResidual) else kind(dropout=0.0),
            )
    return model


def _train(
    text: SmallText, name: str, learning_rate: float, config: ResidualAndNormConfig, seed: int
) -> tuple[float, float, TrainingRecord]:
    with seeded(seed, "residual_and_norm") as generator:
        model = _build(text, name, config)

        def loss() -> Tensor:
            return model.nats(*text.draw(config.batch_size, config.time, generator))

        training = train_small(model, loss, steps=config.steps, learning_rate=learning_rate)
    return model.valid_nats(text, time=config.time), learning_rate, training


def _gradient_norms(text: SmallText, name: str, config: ResidualAndNormConfig, seed: int) -> list[float]:
    """The gradient norm of each layer before training, from the lowest up."""
    with seeded(seed, "residual_and_norm") as generator:
        model = _build(text, name, config)
        model.nats(*text.draw(config.batch_size, config.time, generator)).backward()
    return [
        float(
            torch.cat(
                [parameter.grad.flatten() for parameter in layer.parameters() if parameter.grad is not None]
            ).norm()
        )
        for layer in model.backbone.layers
    ]


def _conclude(rows: list[dict[str, Value]], config: ResidualAndNormConfig, frequencies: float) -> str:
    scores = {str(row["around each sublayer"]): float(row["score"]) for row in rows}
    ratios = {
        str(row["around each sublayer"]): float(row["gradient, lowest / highest layer"]) for row in rows
    }
    ends = ", ".join(f"{name}: {score:.3f}" for name, score in scores.items())
    first, second = "no residual connections", "no LayerNorm"
    gap = scores[first] - scores[second]
    weighs = (
        "about as much as removing the norm"
        if abs(gap) < MATTERS
        else f"{'more' if gap > 0 else 'less'} than removing the norm"
    )
    return (
        f"{config.layers} layers end at {ends} (nats; character frequencies alone: {frequencies:.3f}):"
        f" removing the residual connections costs {weighs}. Before training, the gradient of the lowest"
        f" layer relative to the highest is {ratios[BOTH]:.2g} with both, {ratios[first]:.2g} without"
        f" residual connections, {ratios[second]:.2g} without the norm and {ratios['neither']:.2g} with"
        " neither."
    )
