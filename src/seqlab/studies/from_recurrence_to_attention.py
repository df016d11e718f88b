"""From gated recurrence to attention in five steps, each trained on the same task, causal and full."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.critical_path import critical_path_length
from seqlab.studies.kit.five_steps import STEPS, StepModel
from seqlab.studies.kit.small_training import TrainingRecord, seeded, train_small

NUM_SYMBOLS = 4


@dataclass(frozen=True)
class FromRecurrenceConfig:
    """Sizes of the training."""

    steps: int
    time: int
    batch_size: int = 32
    hidden_size: int = 16


FULL, QUICK = FromRecurrenceConfig(steps=400, time=16), FromRecurrenceConfig(steps=80, time=8)


def marked_symbols(
    batch_size: int, time: int, generator: torch.Generator
) -> tuple[Float[Tensor, "batch time 5"], Int[Tensor, "batch"], Int[Tensor, "batch"]]:
    """Random symbols, one of which is marked, and its position. The task is to recall the marked symbol."""
    symbols = torch.randint(NUM_SYMBOLS, (batch_size, time), generator=generator)
    position = torch.randint(time, (batch_size,), generator=generator)
    is_marked = F.one_hot(position, time)
    inputs = torch.cat([F.one_hot(symbols, NUM_SYMBOLS), is_marked.unsqueeze(-1)], dim=-1).float()
    return inputs, symbols[torch.arange(batch_size), position], position


@studies.register("from_recurrence_to_attention")
def from_recurrence_to_attention(*, seed: int, quick: bool) -> Finding:
    """The marked symbol is predicted at every position; before the mark only a full (non-causal) sum can
    know it.
    """
    config = QUICK if quick else FULL
    rows: list[dict[str, Value]] = []
    curves: dict[str, list[LineSeries]] = {"causal": [], "full": []}
    for step, name in enumerate(STEPS):
        for kind in ("causal", "full"):
            row, training = _run(step, kind == "causal", config, seed)
            rows.append({"step": name, "sum": kind, **row})
            curves[kind].append(LineSeries(name, range(len(training.losses)), training.losses))
    return Finding(
        claim=(
            "A gated recurrence is attention with dependent weights; freeing the weights, the candidates"
            " and the keys leads to self-attention."
        ),
        conclusion=_conclude(rows),
        rows=rows,
        curves=[LineChart(f"Loss, {kind} sums", "update", "nats", lines) for kind, lines in curves.items()],
        notes=[
            (
                f"{config.time} positions, {NUM_SYMBOLS} symbols (chance: {1 / NUM_SYMBOLS:.0%}),"
                f" {config.steps} updates."
            )
        ],
    )


def _conclude(rows: list[dict[str, Value]]) -> str:
    first, causal, full = rows[0], rows[-2], rows[-1]
    error = max(float(row["differs from the recurrence"]) for row in rows if str(row["step"]).startswith("1"))
    return (
        "Unrolled into a weighted sum, the recurrence gives the same states (largest difference"
        f" {error:.0e}). After the mark, its accuracy is {float(first['after the mark']):.0%}; causal"
        f" multi-head attention reaches {float(causal['after the mark']):.0%}. Before the mark, the causal"
        f" sums can only guess ({float(causal['before the mark']):.0%}), while the full ones see the"
        f" answer ({float(full['before the mark']):.0%}). The longest chain of dependent operations falls"
        f" from {first['longest chain']} to {causal['longest chain']}."
    )


def _run(
    step: int, causal: bool, config: FromRecurrenceConfig, seed: int
) -> tuple[dict[str, Value], TrainingRecord]:
    with seeded(seed, "five steps", str(causal)) as generator:
        model = StepModel(step, NUM_SYMBOLS + 1, config.hidden_size, NUM_SYMBOLS, causal=causal)

        def loss() -> Tensor:
            inputs, answers, _ = marked_symbols(config.batch_size, config.time, generator)
            targets = answers.unsqueeze(1).expand(-1, config.time)
            return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())

        training = train_small(model, loss, steps=config.steps, learning_rate=0.02)
        inputs, answers, position = marked_symbols(500, config.time, generator)
        with torch.no_grad():
            is_correct = (model(inputs).argmax(dim=-1) == answers.unsqueeze(1)).float()  # (batch, time)
        is_after = torch.arange(config.time) >= position.unsqueeze(1)
        row: dict[str, Value] = {
            "after the mark": is_correct[is_after].mean().item(),
            "before the mark": is_correct[~is_after].mean().item(),
            "sees the future": "yes" if _sees_future(model, inputs[:4]) else "no",
            "longest chain": critical_path_length(model(inputs[:2])),
            "differs from the recurrence": _difference(model, inputs[:16]),
        }
        return row, training


def _sees_future(model: StepModel, inputs: Tensor) -> bool:
    """Whether the first answer changes with the last input."""
    leaf = inputs.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(leaf)[:, 0].sum(), leaf)
    return bool(gradient[:, -1].abs().max() > 0)


@torch.no_grad()
def _difference(model: StepModel, inputs: Tensor) -> float:
    """The largest difference between the states of this step and those of the recurrence with the same
    weights.
    """
    here = model.states(inputs)
    step, model.step = model.step, 0
    there = model.states(inputs)
    model.step = step
    return (here - there).abs().max().item()
