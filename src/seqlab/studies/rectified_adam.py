"""Can RAdam, or Adam that first estimates its second moments, replace a warm-up? Loss by iteration on a
small German-English translation task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.pages.report_data import LineChart
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_pairs import SentencePair, SmallPairs, german_numbers
from seqlab.studies.kit.small_training import TrainingRecord, loss_series, seeded, train_small
from seqlab.studies.kit.small_translator import small_translator, translation_nats
from seqlab.training.optimizers.adam_2k import Adam2k
from seqlab.training.optimizers.adamw import AdamW
from seqlab.training.optimizers.base import Optimizer
from seqlab.training.optimizers.radam import RAdam, rectification

ADAM, WARM, RECTIFIED, MEASURED = "Adam", "Adam with warm-up", "RAdam", "Adam-2k"
NUMBERS = (
    "The task is translating German numbers to English (zwei und vierzig → forty two): small, but the"
    " word order changes."
)
MATTERS = 0.05
"""Smaller differences, in nats, are treated as no difference."""


@dataclass(frozen=True)
class RectifiedAdamConfig:
    """One network, its batch size, and a learning rate at which Adam fails without a warm-up."""

    layers: int
    batch_size: int
    updates: int
    warm_up: int
    measured_steps: int
    learning_rate: float
    hidden_size: int = 32

    def __str__(self) -> str:
        return f"{self.layers} layers, {self.batch_size} pairs"


FULL = (
    RectifiedAdamConfig(
        layers=4, batch_size=16, updates=300, warm_up=100, measured_steps=150, learning_rate=0.005
    ),
    RectifiedAdamConfig(
        layers=2, batch_size=4, updates=300, warm_up=100, measured_steps=100, learning_rate=0.01
    ),
)
QUICK = (
    RectifiedAdamConfig(
        layers=3, batch_size=16, updates=40, warm_up=25, measured_steps=15, learning_rate=0.01
    ),
    RectifiedAdamConfig(
        layers=2, batch_size=4, updates=100, warm_up=50, measured_steps=30, learning_rate=0.01
    ),
)


@studies.register("rectified_adam")
def rectified_adam(*, seed: int, quick: bool, pairs: Sequence[SentencePair] | None = None) -> Finding:
    """Post-norm encoder-decoders, deep with large batches and shallow with small, noisy ones; only the
    optimizer differs.

    pairs: sentences and their translations; defaults to German and English number words.
    """
    networks = QUICK if quick else FULL
    small = SmallPairs.from_pairs(pairs or german_numbers())
    rows: list[dict[str, Value]] = []
    curves: list[LineChart] = []
    sentences: list[str] = []
    for config in networks:
        runs = {name: _train(small, name, config, seed) for name in (ADAM, WARM, RECTIFIED, MEASURED)}
        for name, (training, valid) in runs.items():
            rows.append(
                {
                    "network": str(config),
                    "optimizer": name,
                    "iterations": len(training.losses),
                    "score": valid,
                }
            )
        lines = [loss_series(name, training) for name, (training, _) in runs.items()]
        curves.append(LineChart(f"Training loss: {config}", "iteration", "nats per word", lines))
        sentences.append(_conclude({name: valid for name, (_, valid) in runs.items()}, config))
    return Finding(
        claim=(
            "Adam needs a warm-up because its first steps vary so much: RAdam, which rectifies this"
            " variance, and Adam-2k, which at first only measures gradient sizes, train without one."
        ),
        conclusion=" ".join(sentences),
        rows=rows,
        curves=curves,
        notes=_describe(
            *networks,
            NUMBERS
            if pairs is None
            else f"The translations are {len(small.sources):,} pairs from your data.",
        ),
    )


def _describe(deep: RectifiedAdamConfig, shallow: RectifiedAdamConfig, data: str) -> list[str]:
    """How it was measured, and what to be careful about."""
    sizes = [
        f"{config.layers} layers on each side, batches of {config.batch_size} pairs, learning"
        f" rate {config.learning_rate:g}."
        for config in (deep, shallow)
    ]
    return [
        *sizes,
        f"Post-norm (the norm comes after each sublayer); width {deep.hidden_size}.",
        (
            "Gradients are clipped at 1; the learning rate is constant, after a warm-up of"
            f" {deep.warm_up} and {shallow.warm_up} updates or none."
        ),
        data,
        (
            "Adam-2k only estimates gradient sizes at first: weights stay fixed for"
            f" {deep.measured_steps} and {shallow.measured_steps} iterations (2,000 in the paper)."
        ),
        (
            f"RAdam's rectification factor is {rectification(deep.updates):.2f} at the end, so part"
            " of its effect is a lower learning rate."
        ),
        (
            f"Scores are nats per word on held-out pairs. One seed: differences below {MATTERS:g} are"
            " treated as no difference."
        ),
    ]


def _train(
    small: SmallPairs, name: str, config: RectifiedAdamConfig, seed: int
) -> tuple[TrainingRecord, float]:
    optimizers: dict[str, Callable[[list[nn.Parameter]], Optimizer]] = {
        RECTIFIED: RAdam,
        MEASURED: partial(Adam2k, measured_steps=config.measured_steps),
    }
    settings = TransformerSettings(
        layers=config.layers, hidden_size=config.hidden_size, heads=4, norm="post", dropout=0.0
    )
    with seeded(seed, "rectified_adam") as generator:
        model = small_translator(small, settings, DecoderSettings())
        training = train_small(
            model,
            lambda: translation_nats(model, *small.draw(config.batch_size, generator)),
            steps=config.updates + (config.measured_steps if name == MEASURED else 0),
            learning_rate=config.learning_rate,
            build_optimizer=optimizers.get(name, AdamW),
            warm_up=config.warm_up if name == WARM else 0,
            constant=True,
        )
    with torch.no_grad():
        return training, translation_nats(model, *small.validation_batch()).item()


def _conclude(scores: dict[str, float], config: RectifiedAdamConfig) -> str:
    def without(name: str) -> str:
        if scores[name] > scores[ADAM] - MATTERS:
            return f"{name} does no better without one ({scores[name]:.3f})"
        ahead = scores[WARM] - scores[name]
        reaches = (
            "better than"
            if ahead > MATTERS
            else "as well as"
            if ahead > -MATTERS
            else "better than without, but not as well as"
        )
        return f"{name} trains {reaches} with a warm-up ({scores[name]:.3f})"

    needs = "needs a warm-up" if scores[WARM] < scores[ADAM] - MATTERS else "does not need a warm-up"
    return (
        f"With {config} per batch, Adam {needs} ({scores[ADAM]:.3f} nats per word without,"
        f" {scores[WARM]:.3f} with one); {without(RECTIFIED)}; {without(MEASURED)}."
    )
