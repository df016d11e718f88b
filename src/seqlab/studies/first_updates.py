"""What goes wrong in the first updates? Updates and gradients by layer, and the variance of Adam's first
steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.pages.charts.interval_rows import IntervalRow, draw_interval_rows
from seqlab.pages.html import Markup, tag
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_text import SmallText, small_text
from seqlab.studies.kit.small_training import seeded, train_small
from seqlab.studies.kit.small_transformer import SmallTransformer
from seqlab.training.optimizers.adam_moments import BETA2
from seqlab.training.optimizers.radam import effective_samples, rectification

PARTS = ("W_q", "W_k", "W_v")
SAMPLED = 20
"""Stride: only every n-th weight of a matrix is measured."""


@dataclass(frozen=True)
class FirstUpdatesConfig:
    """Sizes of the training and of the measurements."""

    layers: int
    updates: int
    warm_up: int
    streams: int
    batches: int
    time: int = 24
    learning_rate: float = 0.006
    batch_size: int = 16


FULL = FirstUpdatesConfig(layers=8, updates=100, warm_up=80, streams=16, batches=40)
QUICK = FirstUpdatesConfig(
    layers=6, updates=30, warm_up=30, streams=6, batches=12, time=16, learning_rate=0.01
)


@dataclass(frozen=True)
class UpdateRecord:
    """One training run, by layer and by update."""

    update_sizes: Float[Tensor, "updates layers"]
    """Root mean square of a layer's update, divided by the peak learning rate."""
    gradients: Float[Tensor, "updates layers"]
    """Norm of a layer's gradient after clipping."""
    parts: Float[Tensor, "updates layers three"]
    """Norms of the gradients of W_q, W_k and W_v."""


@studies.register("first_updates")
def first_updates(*, seed: int, quick: bool) -> Finding:
    """A deep post-norm network trained with and without warm-up, and its gradients before training in
    independent streams.
    """
    config = QUICK if quick else FULL
    text = small_text()
    cold, warm = (_record(text, config, warm_up, seed) for warm_up in (0, config.warm_up))
    spread = relative_spread(_gradients_at_the_start(text, config, seed))
    rows = [_row(layer, cold, warm) for layer in range(config.layers)]
    return Finding(
        claim=(
            "Without warm-up, gradients and Adam's updates shrink quickly; gradients of W_q and W_k are"
            " much smaller than those of W_v; and the first updates vary most, because Adam has seen few"
            " gradients."
        ),
        conclusion=_conclude(cold, warm, spread),
        rows=rows,
        curves=[*_charts_by_layer(cold, warm, config), _spread_chart(spread)],
        figures=[_bars(rows)],
        notes=_notes(config, num_first=_first(cold)),
    )


def _charts_by_layer(cold: UpdateRecord, warm: UpdateRecord, config: FirstUpdatesConfig) -> list[LineChart]:
    """Sizes of updates and gradients, without and with warm-up, for the lowest, a middle and the top layer."""
    layers = list(dict.fromkeys((0, config.layers // 2, config.layers - 1)))
    updates = range(1, config.updates + 1)
    return [
        LineChart(f"{title}, {name}", "update", label, _by_layer(values, updates, layers), log_y=True)
        for title, label, cold_values, warm_values in (
            ("Updates", "RMS / learning rate", cold.update_sizes, warm.update_sizes),
            ("Gradients", "norm", cold.gradients, warm.gradients),
        )
        for name, values in (("no warm-up", cold_values), (f"warm-up of {config.warm_up}", warm_values))
    ]


def _spread_chart(spread: Float[Tensor, "updates"]) -> LineChart:
    """The measured spread of Adam's scale, and what theory says of it."""
    end = len(spread) + 1
    return LineChart(
        "Variation of 1/√second moment across streams",
        "update",
        "deviation / mean",
        [
            LineSeries("gradients of the network", range(1, end), spread.tolist()),
            LineSeries(
                "normal gradients (formula)", range(3, end), [spread_of_normal(t) for t in range(3, end)]
            ),
            LineSeries(
                "normal gradients, rectified (RAdam)", range(6, end), [_rectified(t) for t in range(6, end)]
            ),
        ],
        log_y=True,
    )


def _notes(config: FirstUpdatesConfig, *, num_first: int) -> list[str]:
    return [
        (
            f"{config.layers} layers of width 32, post-norm, learning rate {config.learning_rate:g}."
            " Layer 1 is the lowest."
        ),
        f"Each batch has {config.batch_size} windows of {config.time} characters.",
        (
            "The size of an update is its root mean square over the weights, divided by the peak"
            " learning rate: 1 is Adam's full step."
        ),
        (
            f"Gradients of W_q, W_k and W_v, and the first and last sizes, are means over {num_first}"
            " updates without warm-up."
        ),
        (
            f"Deviations are measured at the initial weights, which stay fixed: {config.streams} streams"
            f" of {config.batches} batches, median over weights."
        ),
        (
            "For t normal gradients, they follow from the chi-square distribution; for t < 3, the"
            " deviation is not finite."
        ),
    ]


def relative_spread(gradients: Float[Tensor, "streams updates weights"]) -> Float[Tensor, "updates"]:
    """deviation / mean of 1/√second over the streams, after each update: the median over the weights.

    second_t = (1 - β₂) Σ β₂^(t - s) g_s² / (1 - β₂ᵗ), as Adam corrects it.
    """
    second = torch.zeros_like(gradients[:, 0])
    spreads = []
    for count, gradient in enumerate(gradients.unbind(dim=1), start=1):
        second = BETA2 * second + (1 - BETA2) * gradient.square()
        scale = (second / (1 - BETA2**count)).rsqrt()  # (streams, weights)
        spreads.append((scale.std(dim=0) / scale.mean(dim=0)).median())
    return torch.stack(spreads)


def spread_of_normal(count: int) -> float:
    """deviation / mean of 1/√second where gradients are normal with mean 0, and second is the mean of `count`
    > 2 squares.

        E[1/second] = ρ/(ρ - 2),   E[1/√second] = √(ρ/2) Γ((ρ - 1)/2) / Γ(ρ/2),   ρ as in RAdam

    Paper: Liu et al. 2020, arXiv:1908.03265, theorem 1.

    >>> round(spread_of_normal(3), 2), round(spread_of_normal(100), 2)
    (0.76, 0.07)
    """
    seen = effective_samples(count)
    mean = math.sqrt(seen / 2) * math.exp(math.lgamma((seen - 1) / 2) - math.lgamma(seen / 2))
    return math.sqrt(seen / (seen - 2) / mean**2 - 1)


def _rectified(count: int) -> float:
    """The remaining deviation after RAdam's rectification."""
    return rectification(count) * spread_of_normal(count)


def _record(text: SmallText, config: FirstUpdatesConfig, warm_up: int, seed: int) -> UpdateRecord:
    with seeded(seed, "first_updates") as generator:
        model = SmallTransformer(text.num_symbols, layers=config.layers, norm="post")
        layers = [list(layer.parameters()) for layer in model.backbone.layers]
        before = [_flatten(layer) for layer in layers]
        update_sizes, gradients, parts = [], [], []

        def loss() -> Tensor:
            return model.nats(*text.draw(config.batch_size, config.time, generator))

        def callback(_: int) -> None:
            after = [_flatten(layer) for layer in layers]
            update_sizes.append(
                [
                    float((new - old).square().mean().sqrt()) / config.learning_rate
                    for new, old in zip(after, before, strict=True)
                ]
            )
            gradients.append(
                [
                    float(
                        _flatten([parameter.grad for parameter in layer if parameter.grad is not None]).norm()
                    )
                    for layer in layers
                ]
            )
            parts.append([_norms_of_parts(model, number) for number in range(config.layers)])
            before[:] = after

        train_small(
            model,
            loss,
            steps=config.updates,
            learning_rate=config.learning_rate,
            warm_up=warm_up,
            constant=True,
            callback=callback,
        )
    return UpdateRecord(torch.tensor(update_sizes), torch.tensor(gradients), torch.tensor(parts))


def _norms_of_parts(model: SmallTransformer, layer: int) -> list[float]:
    gradient = model.backbone.layers[layer].get_parameter("attention.qkv.weight").grad
    assert gradient is not None
    return [float(part.norm()) for part in gradient.chunk(3)]  # queries, keys and values lie below each other


def _gradients_at_the_start(
    text: SmallText, config: FirstUpdatesConfig, seed: int
) -> Float[Tensor, "streams updates weights"]:
    with seeded(seed, "first_updates") as generator:
        model = SmallTransformer(text.num_symbols, layers=config.layers, norm="post")
        matrices = [parameter for parameter in model.backbone.layers.parameters() if parameter.dim() == 2]
        drawn = []
        for _ in range(config.streams * config.batches):
            model.zero_grad(set_to_none=True)
            model.nats(*text.draw(config.batch_size, config.time, generator)).backward()
            drawn.append(
                _flatten([parameter.grad for parameter in matrices if parameter.grad is not None])[::SAMPLED]
            )
    return torch.stack(drawn).unflatten(0, (config.streams, config.batches))


def _flatten(tensors: Sequence[Tensor]) -> Float[Tensor, "weights"]:
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def _first(record: UpdateRecord) -> int:
    return min(10, len(record.update_sizes))


def _row(layer: int, cold: UpdateRecord, warm: UpdateRecord) -> dict[str, Value]:
    early, late = slice(0, _first(cold)), slice(-_first(cold), None)
    parts = cold.parts[early, layer].mean(dim=0).tolist()
    measures = {
        "gradient": cold.gradients,
        "update": cold.update_sizes,
        "gradient with warm-up": warm.gradients,
    }
    spans = {"first": early, "last": late}
    return {
        "layer": layer + 1,
        **{f"gradient of {name}": value for name, value in zip(PARTS, parts, strict=True)},
        **{
            f"{what}, {name}": float(values[span, layer].mean())
            for what, values in measures.items()
            for name, span in spans.items()
        },
    }


def _by_layer(
    values: Float[Tensor, "updates layers"], updates: Sequence[int], layers: Sequence[int]
) -> list[LineSeries]:
    return [LineSeries(f"layer {layer + 1}", updates, values[:, layer].tolist()) for layer in layers]


def _bars(rows: Sequence[dict[str, Value]]) -> Markup:
    bars = [
        IntervalRow(f"layer {row['layer']}, {name}", float(row[f"gradient of {name}"]))
        for row in rows
        for name in PARTS
    ]
    title = "Norms of the gradients of W_q, W_k and W_v"
    return tag(
        "figure", tag("h3", title), draw_interval_rows(bars, title=title, with_bars=True), class_="chart-box"
    )


def _conclude(cold: UpdateRecord, warm: UpdateRecord, spread: Float[Tensor, "updates"]) -> str:
    few = _first(cold)

    def kept(values: Float[Tensor, "updates layers"]) -> float:
        """The value of the lowest layer at the end, relative to the beginning."""
        return float(values[-few:, 0].mean() / values[:few, 0].mean())

    queries, keys, values = cold.parts[:few].mean(dim=(0, 1)).tolist()
    return (
        f"After {len(cold.update_sizes)} updates without warm-up, the lowest layer keeps"
        f" {kept(cold.gradients):.2g} of its initial gradient size and {kept(cold.update_sizes):.2g} of"
        f" its initial update size (gradients with warm-up: {kept(warm.gradients):.2g}). In the first"
        f" {few} updates, the gradient of W_v is {values / queries:.3g} times that of W_q and"
        f" {values / keys:.3g} times that of W_k. Across streams, Adam's scale 1/√second deviates by"
        f" {float(spread[1]):.2f} of its mean at the second update and by {float(spread[-1]):.2f} at"
        f" update {len(spread)}."
    )
