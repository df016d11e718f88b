"""When does pretraining help a classifier? The same network with few and with many labels, from random weights
and from those of a language model.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import fmean
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.pooling import MeanPool
from seqlab.core.seeds import derive
from seqlab.datasets.languages import read_language_names
from seqlab.metrics.seeds import SeedSummary
from seqlab.pages.charts.interval_rows import IntervalRow, draw_interval_rows
from seqlab.pages.html import Markup, tag
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.seed_difference import direction, format_difference, seed_differences
from seqlab.studies.kit.small_language_model import SmallLanguageModel
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.kit.small_training import seeded, train_small

LANGUAGES = ("Finnish", "German", "Italian", "Polish")
PAD, EDGE = 0, 1
"""Ids of padding, and of the character before and after every name."""
MAX_CHARACTERS = 24
NUM_HELD_OUT = 1200
"""Names that no language model sees: half to choose learning rates, half to test."""
SCRATCH, PRETRAINED = "from scratch", "pretrained"
LEARNING_RATES = (0.003, 0.01)


@dataclass(frozen=True)
class FewLabelsConfig:
    """Sizes of the training."""

    num_seeds: int
    pretraining_steps: int
    num_labels: tuple[int, ...] = (20, 80, 320)
    steps: int = 150
    batch_size: int = 16
    hidden_size: int = 64


FULL = FewLabelsConfig(num_seeds=6, pretraining_steps=1500)
QUICK = FewLabelsConfig(num_seeds=5, pretraining_steps=400, steps=100)


@dataclass(frozen=True)
class Names:
    """Names of languages, countries and currencies as characters; some are labeled with their language."""

    unlabeled: Int[Tensor, "names characters"]
    """Names in 18 languages, to pretrain on."""
    labeled: Int[Tensor, "labeled characters"]
    labels: Int[Tensor, " labeled"]
    num_symbols: int

    @classmethod
    def from_languages(cls, language_by_name: dict[str, str]) -> Self:
        """The first labeled names are held out; the others are also among the unlabeled ones."""
        names = sorted(language_by_name)
        random.Random(derive(0, "names")).shuffle(names)  # noqa: S311 (not for secrets)
        symbols = {symbol: index for index, symbol in enumerate(sorted(set("".join(names))), start=EDGE + 1)}
        known = [name for name in names if language_by_name[name] in LANGUAGES]
        held_out = set(known[:NUM_HELD_OUT])
        return cls(
            torch.tensor([encode_name(name, symbols) for name in names if name not in held_out]),
            torch.tensor([encode_name(name, symbols) for name in known]),
            torch.tensor([LANGUAGES.index(language_by_name[name]) for name in known]),
            EDGE + 1 + len(symbols),
        )

    def draw_labeled(self, count: int, seed: int) -> Int[Tensor, " rows"]:
        """Rows to train on, the same number of each language. Fewer rows are a subset of more."""
        rows = torch.randperm(
            len(self.labels) - NUM_HELD_OUT,
            generator=torch.Generator().manual_seed(derive(seed, "labels")),
        )
        rows = rows + NUM_HELD_OUT
        per_label = count // len(LANGUAGES)
        return torch.cat([rows[self.labels[rows] == label][:per_label] for label in range(len(LANGUAGES))])


def encode_name(name: str, symbols: dict[str, int]) -> list[int]:
    """
    >>> encode_name("ab", {"a": 2, "b": 3})[:5]
    [1, 2, 3, 1, 0]
    """
    characters = [EDGE, *(symbols[symbol] for symbol in name[:MAX_CHARACTERS]), EDGE]
    return characters + [PAD] * (MAX_CHARACTERS + 2 - len(characters))


class NameClassifier(nn.Module):
    """logits = W mean(h_1 … h_T) + b, with the embedding and the layer of a language model."""

    def __init__(self, language_model: SmallLanguageModel) -> None:
        super().__init__()
        self.embed, self.stack = language_model.embed, language_model.stack
        self.pool = MeanPool()
        self.head = nn.Linear(self.stack.output_size, len(LANGUAGES))

    def forward(self, names: Int[Tensor, "batch characters"]) -> Float[Tensor, "batch languages"]:
        is_token = names != PAD
        return self.head(self.pool(self.stack(self.embed(names), is_token)[0], is_token))


@studies.register("few_labels")
def few_labels(*, seed: int, quick: bool) -> Finding:
    """A character language model is pretrained on names without labels, then fine-tuned to tell the language
    of a name.
    """
    config = QUICK if quick else FULL
    names = Names.from_languages(read_language_names())
    runs = [accuracies(names, config, seed + number) for number in range(config.num_seeds)]
    scores = {
        count: {start: [run[count, start] for run in runs] for start in (SCRATCH, PRETRAINED)}
        for count in config.num_labels
    }
    gains = {
        count: seed_differences(by_start[PRETRAINED], by_start[SCRATCH]) for count, by_start in scores.items()
    }
    return Finding(
        claim="Pretraining on unlabeled text helps most when labels are few.",
        conclusion=conclude(gains),
        rows=[_row(count, by_start, gains[count]) for count, by_start in scores.items()],
        curves=[_draw_accuracies(scores)],
        figures=[_draw_gains(gains)],
        notes=[
            (
                f"Pretraining: {config.pretraining_steps:,} updates of a GRU with {config.hidden_size} units"
                f" on {len(names.unlabeled):,} names in 18 languages. The task: is a name"
                f" {', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}?"
            ),
            (
                f"Both classifiers get {config.steps} updates on the same labels, equally many of each"
                f" language, and the better of the learning rates"
                f" {' and '.join(f'{rate:g}' for rate in LEARNING_RATES)} on {NUM_HELD_OUT // 2} validation"
                f" names. Tested on {NUM_HELD_OUT // 2} others; no held-out name is in the pretraining text."
            ),
            f"{config.num_seeds} seeds; gains are paired by seed, intervals are Student's t over seeds.",
        ],
    )


def conclude(gains: dict[int, SeedSummary]) -> str:
    """gains: by number of labels."""
    few, many = min(gains), max(gains)
    shrinks = seed_differences(gains[few].values, gains[many].values)
    helps = [count for count, gain in gains.items() if direction(gain) == "above"]
    if few in helps and direction(shrinks) == "above":
        verdict = "Holds"
    elif not helps or direction(shrinks) == "below":
        verdict = "Does not hold here"
    else:
        verdict = "Depends"
    measured = ", ".join(f"{format_difference(gain)} with {count} labels" for count, gain in gains.items())
    return (
        f"{verdict}: fine-tuning changes the accuracy by {measured}. The gain with {few} labels minus that with"
        f" {many} is {format_difference(shrinks)}."
    )


def accuracies(names: Names, config: FewLabelsConfig, seed: int) -> dict[tuple[int, str], float]:
    """Test accuracy by number of labels and start, for one seed."""
    pretrained = pretrain(names, config, seed).state_dict()
    weights = {SCRATCH: None, PRETRAINED: pretrained}
    return {
        (count, start): _tuned_accuracy(names, config, count, seed, weights[start])
        for count in config.num_labels
        for start in weights
    }


def pretrain(names: Names, config: FewLabelsConfig, seed: int) -> SmallLanguageModel:
    """A language model of the unlabeled names."""
    with seeded(seed, "pretraining") as generator:
        model = _new_language_model(names, config)

        def loss() -> Tensor:
            rows = torch.randint(len(names.unlabeled), (32,), generator=generator)
            batch = names.unlabeled[rows]
            return F.cross_entropy(
                model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten(), ignore_index=PAD
            )

        train_small(model, loss, steps=config.pretraining_steps)
    return model


def _new_language_model(names: Names, config: FewLabelsConfig) -> SmallLanguageModel:
    return SmallLanguageModel(names.num_symbols, cell_maker("gru"), config.hidden_size)


def _tuned_accuracy(
    names: Names, config: FewLabelsConfig, count: int, seed: int, weights: dict[str, Tensor] | None
) -> float:
    """Test accuracy with the learning rate that is better on the validation names."""
    by_rate = [train_classifier(names, config, count, seed, weights, rate) for rate in LEARNING_RATES]
    return max(by_rate, key=lambda scores: scores[0])[1]


def train_classifier(
    names: Names,
    config: FewLabelsConfig,
    count: int,
    seed: int,
    weights: dict[str, Tensor] | None,
    learning_rate: float,
) -> tuple[float, float]:
    """Validation and test accuracy. weights: of a language model; None starts at random ones."""
    rows = names.draw_labeled(count, seed)
    with seeded(seed, "classifier", count) as generator:
        language_model = _new_language_model(names, config)
        classifier = NameClassifier(language_model)
        if weights is not None:
            language_model.load_state_dict(weights)

        def loss() -> Tensor:
            batch = rows[torch.randint(len(rows), (config.batch_size,), generator=generator)]
            return F.cross_entropy(classifier(names.labeled[batch]), names.labels[batch])

        train_small(classifier, loss, steps=config.steps, learning_rate=learning_rate)
    half = NUM_HELD_OUT // 2
    return (
        _accuracy(classifier, names, slice(0, half)),
        _accuracy(classifier, names, slice(half, NUM_HELD_OUT)),
    )


@torch.no_grad()
def _accuracy(classifier: NameClassifier, names: Names, rows: slice) -> float:
    return (classifier(names.labeled[rows]).argmax(dim=-1) == names.labels[rows]).float().mean().item()


def _row(count: int, by_start: dict[str, list[float]], gain: SeedSummary) -> dict[str, Value]:
    return {
        "labels": count,
        **{start: fmean(values) for start, values in by_start.items()},
        "gain": format_difference(gain),
    }


def _draw_accuracies(scores: dict[int, dict[str, list[float]]]) -> LineChart:
    series = [
        LineSeries(start, list(scores), [fmean(by_start[start]) for by_start in scores.values()])
        for start in (SCRATCH, PRETRAINED)
    ]
    return LineChart(
        "Accuracy by number of labels",
        "labels",
        "accuracy",
        series,
        references=[ReferenceLine("chance", 1 / len(LANGUAGES))],
        is_over_time=False,
        log_x=True,
    )


def _draw_gains(gains: dict[int, SeedSummary]) -> Markup:
    title = "Gain in accuracy from pretraining"
    bars = [IntervalRow(f"{count} labels", gain.mean, gain.low, gain.high) for count, gain in gains.items()]
    drawing = draw_interval_rows(bars, title=title, reference=0.0, reference_name="no gain")
    return tag("figure", tag("h3", title), drawing, class_="chart-box")
