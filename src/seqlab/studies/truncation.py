"""Truncated backpropagation through time: it saves memory but cannot learn dependencies over more than k
steps. A summary of the past is the alternative.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine, VerticalMarker
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.cue_and_question import NUM_CUES, RecallTask
from seqlab.studies.kit.saved_memory import saved_for_backward
from seqlab.studies.kit.small_models import SmallRecurrentModel, cell_maker
from seqlab.studies.kit.small_training import seeded, train_small


@dataclass(frozen=True)
class TruncationConfig:
    """Sizes of the training."""

    gap: int
    ks: tuple[int, ...]
    steps: int
    batch_size: int = 32
    hidden_size: int = 32


FULL = TruncationConfig(gap=15, ks=(2, 4, 8, 12, 16, 20), steps=300)
QUICK = TruncationConfig(gap=15, ks=(4, 20), steps=180)


class TruncatedModel(nn.Module):
    """The state is carried through the whole sequence; gradients flow back only through the last k steps,
    before which it is detached.
    """

    def __init__(self, num_symbols: int, hidden_size: int, *, k: int) -> None:
        super().__init__()
        self.network = SmallRecurrentModel(
            num_symbols, cell_maker("gru", keep_bias=1.0), hidden_size, NUM_CUES
        )
        self.k = k

    def forward(self, steps: Float[Tensor, "batch time symbols"]) -> Float[Tensor, "batch cues"]:
        split = max(0, steps.shape[1] - self.k)
        state = None
        for piece in steps[:, :split].split(self.k, dim=1) if split else ():
            with torch.no_grad():  # there is no loss at these steps, so no gradient would pass the cut
                _, state = self.network.scan(piece, state)
        hidden, _ = self.network.scan(steps[:, split:], state)
        return self.network.head(hidden[:, -1])


class SummaryModel(nn.Module):
    """The past as one context vector: the mean of its steps, projected to the initial state for the last k
    steps.

    context = tanh(C mean(x_1 … x_{T-k}) + c)        hidden_0 = context
    """

    def __init__(self, num_symbols: int, hidden_size: int, *, k: int) -> None:
        super().__init__()
        self.network = SmallRecurrentModel(
            num_symbols, cell_maker("gru", keep_bias=1.0), hidden_size, NUM_CUES
        )
        self.summary = nn.Linear(num_symbols, hidden_size)
        self.k = k

    def forward(self, steps: Float[Tensor, "batch time symbols"]) -> Float[Tensor, "batch cues"]:
        split = max(1, steps.shape[1] - self.k)
        context = torch.tanh(
            self.summary(steps[:, :split].sum(dim=1))
        )  # (batch, hidden); a sum is the mean times the known length
        hidden, _ = self.network.scan(steps[:, split:], (context,))
        return self.network.head(hidden[:, -1])


@studies.register("truncation")
def truncation(*, seed: int, quick: bool) -> Finding:
    """The recall task for every k, and an order task that shows the limits of a summary."""
    config = QUICK if quick else FULL
    rows = [_row(f"truncated, k = {k}", TruncatedModel, k, config, seed) for k in config.ks]
    rows.append(_row(f"summary, then {config.ks[0]} steps", SummaryModel, config.ks[0], config, seed))
    task = RecallTask(config.gap)
    truncated = [row for row in rows[:-1] if int(row["k"]) < task.length]
    whole = rows[len(truncated)]
    xs = list(config.ks)
    lost = VerticalMarker("the cue is this far away", task.length)
    return Finding(
        claim=(
            "Detaching the state every k steps saves memory, but dependencies longer than k steps are"
            " not learned."
        ),
        conclusion=_conclude(truncated[0], whole, rows[-1], task.length),
        rows=rows,
        curves=[
            LineChart(
                "Accuracy",
                "k",
                "accuracy",
                [
                    LineSeries(name, xs, [float(row[name]) for row in rows[:-1]])
                    for name in ("recall", "order")
                ],
                marks=[lost],
                references=[ReferenceLine("chance", 1 / NUM_CUES)],
            ),
            LineChart(
                "Memory stored for the backward pass",
                "k",
                "kB",
                [LineSeries("kept by autograd", xs, [float(row["kB kept"]) for row in rows[:-1]])],
                marks=[lost],
            ),
        ],
        notes=[
            (
                "The state itself is carried across every cut, so whatever an untrained cell happens to"
                " keep for a few more steps can still be read."
            ),
            (
                f"One batch of {config.batch_size} sequences, a GRU of {config.hidden_size} units,"
                f" {config.steps} updates."
            ),
            (
                "recall: one cue, chance 25%. order: two cues, and the target is the first; knowing both"
                " but not their order gives 50%."
            ),
        ],
    )


def _conclude(
    truncated: dict[str, Value], whole: dict[str, Value], summary: dict[str, Value], distance: int
) -> str:
    def describe(row: dict[str, Value], column: str) -> str:
        return f"{float(row[column]):.0%} with {float(row['kB kept']):.0f} kB stored"

    return (
        f"The cue is {distance} steps back. Recall is {describe(truncated, 'recall')} at k ="
        f" {truncated['k']} and {describe(whole, 'recall')} at k = {whole['k']}. A summary vector recalls"
        f" {describe(summary, 'recall')}, but identifies which of two cues came first in only"
        f" {float(summary['order']):.0%} of cases (full backpropagation: {float(whole['order']):.0%})."
    )


def _row(
    name: str, kind: type[TruncatedModel] | type[SummaryModel], k: int, config: TruncationConfig, seed: int
) -> dict[str, Value]:
    recall, kept, seconds = _train(kind, k, RecallTask(config.gap), config, seed)
    order, _, _ = _train(kind, k, RecallTask(config.gap, two_cues=True), config, seed)
    return {
        "way": name,
        "k": k,
        "recall": recall,
        "order": order,
        "kB kept": kept / 1000,
        "ms per update": 1000 * seconds / config.steps,
    }


def _train(
    kind: type[TruncatedModel] | type[SummaryModel],
    k: int,
    task: RecallTask,
    config: TruncationConfig,
    seed: int,
) -> tuple[float, int, float]:
    """Accuracy on new sequences, bytes kept for one batch, and CPU time of all updates."""
    with seeded(seed, "truncation") as generator:
        model = kind(task.num_symbols, config.hidden_size, k=k)

        def loss() -> Tensor:
            steps, cue = task.draw(config.batch_size, generator)
            return F.cross_entropy(model(steps), cue)

        with saved_for_backward() as saved:
            kept_alive = loss()
        del kept_alive
        training = train_small(model, loss, steps=config.steps, learning_rate=0.01)
        steps, cue = task.draw(512, generator)
        with torch.no_grad():
            return (
                (model(steps).argmax(dim=-1) == cue).float().mean().item(),
                saved.num_bytes,
                training.seconds,
            )
