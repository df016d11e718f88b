"""The effect of longer sequences on accuracy and on the gradient that reaches the first step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from seqlab.blocks.recurrent import CellFactory
from seqlab.inspection.gradient_flow import gradient_flow
from seqlab.inspection.unroll import unroll
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.cue_and_question import NUM_CUES, RecallTask
from seqlab.studies.kit.small_models import SmallRecurrentModel, cell_maker
from seqlab.studies.kit.small_training import seeded, train_small

CELLS: dict[str, CellFactory] = {
    "rnn": cell_maker("rnn"),
    "lstm": cell_maker("lstm", keep_bias=5.0),
    "gru": cell_maker("gru", keep_bias=3.0),
}
STRETCHES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Factors on the recurrent matrix at each cell's default initialization, to imitate networks after training."""
TINY, HUGE = 1e-3, 1e3


@dataclass(frozen=True)
class LengthsConfig:
    """Sizes of the training."""

    lengths: tuple[int, ...]
    steps: int
    num_networks: int
    batch_size: int = 32
    hidden_size: int = 32


FULL = LengthsConfig(lengths=(6, 12, 24, 48), steps=300, num_networks=4)
QUICK = LengthsConfig(lengths=(5, 36), steps=120, num_networks=2)


@studies.register("lengths")
def lengths(*, seed: int, quick: bool) -> Finding:
    """Recall of a noisy cue from the first step at the last step, for sequences of growing length."""
    config = QUICK if quick else FULL
    rows: list[dict[str, Value]] = []
    for length in config.lengths:
        for cell in CELLS:
            task = RecallTask(length - 2, noise_std=0.2)
            accuracy, before, after = _train(CELLS[cell], task, config, seed)
            tiny, huge = _gradient_problem_shares(cell_maker(cell), task, config, seed)
            row: dict[str, Value] = {
                "cell": cell,
                "length": length,
                "accuracy": accuracy,
                "gradient ratio before": before,
                "gradient ratio after": after,
            }
            rows.append({**row, "share vanishing": tiny, "share exploding": huge})
    longest = [row for row in rows if row["length"] == max(config.lengths)]

    def series(column: str) -> list[LineSeries]:
        return [
            LineSeries(cell, config.lengths, [float(row[column]) for row in rows if row["cell"] == cell])
            for cell in CELLS
        ]

    return Finding(
        claim=(
            "A plain RNN degrades with length, LSTM and GRU less so; vanishing and exploding gradients"
            " are rarer in them, but still occur."
        ),
        conclusion=(
            f"At {max(config.lengths)} steps: {'; '.join(_describe_row(row) for row in longest)}. With"
            f" recurrent matrices scaled by {STRETCHES[0]:g} to {STRETCHES[-1]:g}, gradients vanish or"
            f" explode in {', '.join(_describe_problems(row) for row in longest)}."
        ),
        rows=rows,
        curves=[
            LineChart(
                "Accuracy vs. length",
                "length",
                "accuracy",
                series("accuracy"),
                references=[ReferenceLine("chance", 1 / NUM_CUES)],
            ),
            LineChart(
                "Gradient at the first step / at the last step, before training",
                "length",
                "ratio",
                series("gradient ratio before"),
                log_y=True,
            ),
        ],
        notes=[
            (
                "Gradient ratio: ‖∂L/∂state‖ after the first step divided by the same after the last"
                " step, median of 16 sequences; for an LSTM, the state is the cell state."
            ),
            f"A gradient counts as vanishing below a ratio of {TINY:g} and as exploding above {HUGE:g}.",
        ],
    )


def _train(
    make_cell: CellFactory, task: RecallTask, config: LengthsConfig, seed: int
) -> tuple[float, float, float]:
    """Accuracy, and the gradient ratio before and after training."""
    with seeded(seed, "lengths", task.gap) as generator:
        model = SmallRecurrentModel(task.num_symbols, make_cell, config.hidden_size, NUM_CUES)
        probe, _ = task.draw(16, generator)
        before = _ratio(model, probe)

        def loss() -> Tensor:
            steps, cue = task.draw(config.batch_size, generator)
            return F.cross_entropy(model(steps)[:, -1], cue)

        train_small(model, loss, steps=config.steps, learning_rate=0.005)
        steps, cue = task.draw(512, generator)
        with torch.no_grad():
            accuracy = (model(steps)[:, -1].argmax(dim=-1) == cue).float().mean().item()
        return accuracy, before, _ratio(model, probe)


def _ratio(model: SmallRecurrentModel, steps: Tensor) -> float:
    """‖∂L/∂state_1‖ / ‖∂L/∂state_T‖ for L = Σ of the outputs at the last step."""
    flow = gradient_flow(unroll(model.stack, steps), lambda outputs: model.head(outputs[:, -1]).sum())[0]
    norms = flow.hidden_gradient if flow.memory_gradient is None else flow.memory_gradient
    return float(np.median(norms[:, 0] / np.maximum(norms[:, -1], 1e-300)))


def _gradient_problem_shares(
    make_cell: CellFactory, task: RecallTask, config: LengthsConfig, seed: int
) -> tuple[float, float]:
    """The shares of random networks whose gradient vanishes or explodes between the last step and the
    first.
    """
    ratios = []
    for number in range(config.num_networks):
        for stretch in STRETCHES:
            with seeded(seed, "troubled", number) as generator:
                model = SmallRecurrentModel(
                    task.num_symbols, make_cell, config.hidden_size, NUM_CUES
                ).double()
                with torch.no_grad():
                    for name, parameter in model.stack.named_parameters():
                        if name.endswith("recurrent"):
                            parameter.mul_(stretch)
                ratios.append(_ratio(model, task.draw(8, generator)[0].double()))
    return sum(ratio < TINY for ratio in ratios) / len(ratios), sum(ratio > HUGE for ratio in ratios) / len(
        ratios
    )


def _describe_row(row: dict[str, Value]) -> str:
    return (
        f"{row['cell']} {float(row['accuracy']):.0%} correct, gradient ratio"
        f" {float(row['gradient ratio before']):.0e}"
    )


def _describe_problems(row: dict[str, Value]) -> str:
    return f"{float(row['share vanishing']) + float(row['share exploding']):.0%} ({row['cell']})"
