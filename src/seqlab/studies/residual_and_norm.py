"""What do residual connections and LayerNorm each do? A deep Transformer without the one, without the other, without both."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from seqlab.blocks.residual import NormedResidual, PreNorm, Residual, Steps
from seqlab.pages.report_data import Curve, Reference, Series
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_text import SmallText, small_text
from seqlab.studies.kit.small_training import Training, loss_series, seeded, train_small
from seqlab.studies.kit.small_transformer import SmallTransformer, frequencies_of_valid

FREQUENCIES = "frequencies of characters"
BOTH = "both"
MATTERS = 0.02
"""Nats by which two must differ to be called different."""


class OnlyNorm(NormedResidual):
    """x' = sublayer(norm(x)): nothing runs around the sub-layer."""

    def enter(self, steps: Steps) -> Steps:
        return self.norm(steps)

    def leave(self, steps: Steps, entered: Steps, output: Steps) -> Steps:
        return output


class OnlySum(Residual):
    """x' = x + sublayer(x): the sum without a norm."""

    def enter(self, steps: Steps) -> Steps:
        return steps

    def leave(self, steps: Steps, entered: Steps, output: Steps) -> Steps:
        return steps + output


class Bare(Residual):
    """x' = sublayer(x)."""

    def enter(self, steps: Steps) -> Steps:
        return steps

    def leave(self, steps: Steps, entered: Steps, output: Steps) -> Steps:
        return output


KINDS: dict[str, type[PreNorm | OnlyNorm | OnlySum | Bare]] = {
    BOTH: PreNorm,
    "no residual connections": OnlyNorm,
    "no LayerNorm": OnlySum,
    "neither": Bare,
}


@dataclass(frozen=True)
class Sizes:
    """How much is trained."""

    layers: int
    steps: int
    time: int
    rates: tuple[float, ...]
    """Each network is trained with all of these, and its best counts: what is missing may ask for another rate."""
    batch_size: int = 16


FULL = Sizes(layers=6, steps=200, time=24, rates=(0.001, 0.004))
QUICK = Sizes(layers=4, steps=60, time=16, rates=(0.005,))


@studies.register("residual_and_norm")
def residual_and_norm(*, seed: int, quick: bool) -> Finding:
    """The same layers, data and updates; only what stands around the sub-layers differs."""
    sizes = QUICK if quick else FULL
    text = small_text()
    rows: list[dict[str, Value]] = []
    lines: list[Series] = []
    profiles: list[Series] = []
    for name in KINDS:
        gradients = _gradient_norms(text, name, sizes, seed)
        profiles.append(Series(name, range(1, sizes.layers + 1), gradients))
        score, rate, training = min((_train(text, name, rate, sizes, seed) for rate in sizes.rates), key=lambda tried: tried[0])
        rows.append(
            {"around each sub-layer": name, "score": score, "best rate": rate, "gradient, lowest / highest layer": gradients[0] / gradients[-1]}
        )
        lines.append(loss_series(name, training))
    frequencies = frequencies_of_valid(text, time=sizes.time)
    alone = Reference(FREQUENCIES, frequencies)
    return Finding(
        claim="Residual connections let gradients reach the lower layers, LayerNorm keeps the size of the features; a deep Transformer needs both.",
        found=_found(rows, sizes, frequencies),
        rows=rows,
        curves=[
            Curve("Training loss, each with its best rate", "update", "nats per character", lines, references=[alone]),
            Curve("Gradient before the first update", "layer", "norm", profiles, log_y=True),
        ],
        notes=[
            f"{sizes.layers} layers of width 32 with the norm before each sub-layer; the last norm, before the output, is in all of them.",
            f"{sizes.steps} updates of {sizes.batch_size} windows of {sizes.time} characters, gradients clipped at 1.",
            f"Rates tried: {', '.join(f'{rate:g}' for rate in sizes.rates)}. Scores are nats per character on held-out text.",
        ],
    )


def _build(text: SmallText, name: str, sizes: Sizes) -> SmallTransformer:
    """All start with the same weights: a path draws no random numbers."""
    model = SmallTransformer(text.num_symbols, layers=sizes.layers, norm="pre")
    kind = KINDS[name]
    for layer in model.body.layers:
        for path in ("attention_residual", "feed_forward_residual"):
            norm = getattr(layer, path).norm
            setattr(layer, path, kind(norm, dropout=0.0) if issubclass(kind, NormedResidual) else kind(dropout=0.0))
    return model


def _train(text: SmallText, name: str, rate: float, sizes: Sizes, seed: int) -> tuple[float, float, Training]:
    with seeded(seed, "residual_and_norm") as generator:
        model = _build(text, name, sizes)

        def loss() -> Tensor:
            return model.nats(*text.draw(sizes.batch_size, sizes.time, generator))

        training = train_small(model, loss, steps=sizes.steps, rate=rate)
    return model.valid_nats(text, time=sizes.time), rate, training


def _gradient_norms(text: SmallText, name: str, sizes: Sizes, seed: int) -> list[float]:
    """Of each layer, from the lowest, before anything is learned."""
    with seeded(seed, "residual_and_norm") as generator:
        model = _build(text, name, sizes)
        model.nats(*text.draw(sizes.batch_size, sizes.time, generator)).backward()
    return [float(torch.cat([each.grad.flatten() for each in layer.parameters() if each.grad is not None]).norm()) for layer in model.body.layers]


def _found(rows: list[dict[str, Value]], sizes: Sizes, frequencies: float) -> str:
    scores = {str(row["around each sub-layer"]): float(row["score"]) for row in rows}
    ratios = {str(row["around each sub-layer"]): float(row["gradient, lowest / highest layer"]) for row in rows}
    ends = ", ".join(f"{name}: {score:.3f}" for name, score in scores.items())
    first, second = "no residual connections", "no LayerNorm"
    gap = scores[first] - scores[second]
    weighs = "about as much as losing the norm" if abs(gap) < MATTERS else f"{'more' if gap > 0 else 'less'} than losing the norm"
    return (
        f"{sizes.layers} layers end at {ends} (nats; frequencies alone {frequencies:.3f}): losing the residual connections costs {weighs}. "
        f"Before training the lowest layer's gradient is {ratios[BOTH]:.2g} of the highest's with both, {ratios[first]:.2g} without residual "
        f"connections, {ratios[second]:.2g} without the norm and {ratios['neither']:.2g} with neither."
    )
