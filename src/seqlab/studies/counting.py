"""Can a cell state count? A coupled LSTM only averages, so it cannot; an LSTM can."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.recurrent import build_stack
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.kit.small_training import seeded, train_small

CELLS = ("lstm", "coupled_lstm")
FORGET_BIAS = 5.0
SCALE = 10.0
"""Counts are divided by this, so that weights of ordinary size can produce them."""


@dataclass(frozen=True)
class CountingConfig:
    """Sizes of the training."""

    steps: int
    train_length: int = 20
    lengths: tuple[int, ...] = (10, 20, 40, 80, 160)
    batch_size: int = 32
    hidden_size: int = 8


FULL, QUICK = CountingConfig(steps=1500), CountingConfig(steps=350, lengths=(20, 80))


class CountingModel(nn.Module):
    """count = v · cell_state + c after the last step: the cell state is read directly, so that only the
    gates matter.
    """

    def __init__(self, cell: str, hidden_size: int) -> None:
        super().__init__()
        self.stack = build_stack(1, cell_maker(cell, forget_bias=FORGET_BIAS), [hidden_size])
        self.head = nn.Linear(hidden_size, 1)

    def forward(
        self, ones: Float[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch"], Float[Tensor, "batch hidden"]]:
        _, (_, memory) = self.stack(ones.unsqueeze(-1), torch.ones_like(ones, dtype=torch.bool))
        return self.head(memory).squeeze(-1), memory


@studies.register("counting")
def counting(*, seed: int, quick: bool) -> Finding:
    """Count the ones: trained on short sequences, tested on longer ones."""
    config = QUICK if quick else FULL
    rows: list[dict[str, Value]] = []
    for cell in CELLS:
        with seeded(seed, "counting") as generator:
            model = CountingModel(cell, config.hidden_size)

            def loss(model: CountingModel = model, generator: torch.Generator = generator) -> Tensor:
                length = int(torch.randint(1, config.train_length + 1, (), generator=generator))
                ones = _ones(config.batch_size, length, generator)
                return (model(ones)[0] - ones.sum(dim=1) / SCALE).square().mean()

            train_small(model, loss, steps=config.steps, learning_rate=0.02)
            num_parameters = sum(parameter.numel() for parameter in model.stack.parameters())
            for length in config.lengths:
                error, largest = _evaluate(model, length, generator)
                rows.append(
                    {
                        "cell": cell,
                        "parameters": num_parameters,
                        "length": length,
                        "mean error": error,
                        "largest memory": largest,
                    }
                )
    longest = max(config.lengths)
    errors = {
        cell: next(
            float(row["mean error"]) for row in rows if row["cell"] == cell and row["length"] == longest
        )
        for cell in CELLS
    }
    series = [
        LineSeries(cell, config.lengths, [float(row["mean error"]) for row in rows if row["cell"] == cell])
        for cell in CELLS
    ]
    return Finding(
        claim=(
            "With the input gate tied to 1 - forget gate, the cell state is always an average of what"
            " was written, so evidence does not add up."
        ),
        conclusion=(
            f"Trained to count over {config.train_length} steps and tested after {longest}, the LSTM is"
            f" off by {errors['lstm']:.2f} and the coupled LSTM by {errors['coupled_lstm']:.2f}. The"
            " coupled cell state never leaves -1 … 1."
        ),
        rows=rows,
        curves=[
            LineChart(
                "Counting error at the last step", "length of the sequence", "mean absolute error", series
            )
        ],
        notes=[
            (
                "cell_state' = forget ⊙ cell_state + (1 - forget) ⊙ candidate lies between cell_state and"
                " candidate, and |candidate| < 1."
            )
        ],
    )


def _ones(batch_size: int, time: int, generator: torch.Generator) -> Float[Tensor, "batch time"]:
    """Each sequence has its own share of ones, so that the count does not follow from the length."""
    share = torch.rand(batch_size, 1, generator=generator)
    return (torch.rand(batch_size, time, generator=generator) < share).float()


@torch.no_grad()
def _evaluate(model: CountingModel, length: int, generator: torch.Generator) -> tuple[float, float]:
    """The mean error of the final count, and the largest value in the final cell state."""
    ones = _ones(500, length, generator)
    counts, memory = model(ones)
    return (SCALE * counts - ones.sum(dim=1)).abs().mean().item(), memory.abs().max().item()
