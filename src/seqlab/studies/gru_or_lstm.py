"""GRU or LSTM? Time and quality on a text and on a long-memory task."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.recurrent import CellFactory
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.cue_and_question import NUM_CUES, RecallTask
from seqlab.studies.kit.small_language_model import SmallLanguageModel, valid_nats
from seqlab.studies.kit.small_models import SmallRecurrentModel, cell_maker
from seqlab.studies.kit.small_text import small_text
from seqlab.studies.kit.small_training import TrainingRecord, seeded, train_small

CELLS: dict[str, CellFactory] = {"lstm": cell_maker("lstm"), "gru": cell_maker("gru")}
OPEN_GATE_CELLS: dict[str, CellFactory] = {
    "lstm": cell_maker("lstm", keep_bias=5.0),
    "gru": cell_maker("gru", keep_bias=4.0),
}
SMOOTHING_WINDOW = 20


@dataclass(frozen=True)
class GruOrLstmConfig:
    """Sizes of the training."""

    steps: int
    time: int
    gap: int
    num_seeds: int
    batch_size: int = 32
    hidden_size: int = 64


FULL, QUICK = (
    GruOrLstmConfig(steps=400, time=40, gap=40, num_seeds=2),
    GruOrLstmConfig(steps=60, time=20, gap=15, num_seeds=1),
)


@studies.register("gru_or_lstm")
def gru_or_lstm(*, seed: int, quick: bool) -> Finding:
    """The same width, data and updates for both."""
    config = QUICK if quick else FULL
    seeds = range(seed, seed + config.num_seeds)
    rows: list[dict[str, Value]] = []
    trained: dict[str, TrainingRecord] = {}
    for name in CELLS:
        runs = [_text(name, config, run_seed) for run_seed in seeds]
        trained[name] = runs[0][1]
        rows.append(_row("text", name, "nats per character", runs, config))
    for name in CELLS:
        rows.append(
            _row(
                f"recall over {config.gap} steps",
                name,
                "accuracy",
                [_recall(name, config, run_seed) for run_seed in seeds],
                config,
            )
        )
    lstm, gru = rows[0], rows[1]
    time, size = (float(gru[column]) / float(lstm[column]) for column in ("ms per update", "parameters"))
    better = "LSTM" if float(lstm["score"]) < float(gru["score"]) else "GRU"
    return Finding(
        claim="A GRU trains faster; an LSTM is usually better.",
        conclusion=(
            f"On the text, a GRU update takes {time:.2f} times as long as an LSTM update and the GRU has"
            f" {size:.2f} times the parameters; after the same number of updates, the {better} is better"
            f" ({float(lstm['score']):.3f} nats per character for the LSTM, {float(gru['score']):.3f} for"
            " the GRU)."
        ),
        rows=rows,
        curves=[_against_time(trained)],
        notes=[
            (
                "Times are CPU times on this machine. For batches of full length, the LSTM uses torch's"
                " fused layer, the GRU does not."
            ),
            f"{config.hidden_size} units, {config.steps} updates, mean of {config.num_seeds} runs.",
        ],
    )


def _row(
    task: str, cell: str, measure: str, runs: list[tuple[float, TrainingRecord, int]], config: GruOrLstmConfig
) -> dict[str, Value]:
    return {
        "task": task,
        "cell": cell,
        "parameters": runs[0][2],
        "ms per update": 1000 * min(training.seconds for _, training, _ in runs) / config.steps,
        "measure": measure,
        "score": sum(score for score, _, _ in runs) / len(runs),
    }


def _text(cell: str, config: GruOrLstmConfig, seed: int) -> tuple[float, TrainingRecord, int]:
    text = small_text()
    with seeded(seed, "gru or lstm") as generator:
        model = SmallLanguageModel(text.num_symbols, CELLS[cell], config.hidden_size)
        training = train_small(
            model,
            lambda: model.nats(*text.draw(config.batch_size, config.time, generator)),
            steps=config.steps,
        )
        return valid_nats(model, text, time=config.time), training, _size(model.stack)


def _recall(cell: str, config: GruOrLstmConfig, seed: int) -> tuple[float, TrainingRecord, int]:
    task = RecallTask(config.gap)
    with seeded(seed, "gru or lstm") as generator:
        model = SmallRecurrentModel(task.num_symbols, OPEN_GATE_CELLS[cell], config.hidden_size, NUM_CUES)

        def loss() -> Tensor:
            steps, cue = task.draw(config.batch_size, generator)
            return F.cross_entropy(model(steps)[:, -1], cue)

        training = train_small(model, loss, steps=config.steps, learning_rate=0.005)
        steps, cue = task.draw(512, generator)
        with torch.no_grad():
            return (
                (model(steps)[:, -1].argmax(dim=-1) == cue).float().mean().item(),
                training,
                _size(model.stack),
            )


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def _against_time(trained: dict[str, TrainingRecord]) -> LineChart:
    """The smoothed loss against training time."""
    series = []
    for name, training in trained.items():
        losses = training.losses
        means = [
            sum(losses[max(0, i - SMOOTHING_WINDOW) : i + 1])
            / len(losses[max(0, i - SMOOTHING_WINDOW) : i + 1])
            for i in range(len(losses))
        ]
        series.append(
            LineSeries(name, [training.seconds * (i + 1) / len(losses) for i in range(len(losses))], means)
        )
    return LineChart(
        "Loss on the text vs. time",
        "seconds",
        "nats per character",
        series,
        references=[ReferenceLine("frequencies", small_text().unigram_nats)],
    )
