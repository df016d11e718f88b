"""Streaming, parallel training and long memory, measured for three families of networks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.kv_cache import KVCache
from seqlab.models.base import Backbone, backbones
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.critical_path import critical_path_length
from seqlab.studies.kit.cue_and_question import NUM_CUES, RecallTask
from seqlab.studies.kit.small_training import seeded, train_small

HIDDEN = 32
FAMILIES: dict[str, RecurrentSettings | ConvolutionalSettings | TransformerSettings] = {
    "rnn": RecurrentSettings(cell="gru", hidden_size=HIDDEN, dropout=0.0),
    "convolution": ConvolutionalSettings(hidden_size=HIDDEN, layers=3, kernel_size=3, dropout=0.0),
    "attention": TransformerSettings(hidden_size=HIDDEN, layers=2, heads=4, dropout=0.0),
}


@dataclass(frozen=True)
class AbilitiesConfig:
    """Sizes of the training and of the timing."""

    lengths: tuple[int, ...]
    gaps: tuple[int, ...]
    steps: int
    repeats: int
    batch_size: int = 32


FULL = AbilitiesConfig(lengths=(32, 64, 128, 256), gaps=(5, 10, 20, 40), steps=250, repeats=5)
QUICK = AbilitiesConfig(lengths=(16, 32), gaps=(8, 24), steps=60, repeats=1)


class RecallModel(nn.Module):
    """A causal backbone between a linear input layer for symbols and a linear output layer for cues."""

    def __init__(self, family: str, num_symbols: int) -> None:
        super().__init__()
        settings = FAMILIES[family]
        self.embed = nn.Linear(num_symbols, HIDDEN)
        self.backbone: Backbone = backbones.get(settings.kind).from_settings(settings, causal=True)
        self.head = nn.Linear(self.backbone.output_size, NUM_CUES)

    def forward(self, steps: Float[Tensor, "batch time symbols"]) -> Float[Tensor, "batch time cues"]:
        return self.head(self.backbone(self.embed(steps), torch.ones(steps.shape[:2], dtype=torch.bool))[0])


@studies.register("abilities")
def abilities(*, seed: int, quick: bool) -> Finding:
    """One row per family: cost of streaming, sequential operations in training, and recall."""
    config = QUICK if quick else FULL
    times = {
        name: [_milliseconds(name, length, config, seed) for length in config.lengths] for name in FAMILIES
    }
    memory = {name: [_accuracy(name, gap, config, seed) for gap in config.gaps] for name in FAMILIES}
    rows = [_row(name, times[name], memory[name], config, seed) for name in FAMILIES]
    return Finding(
        claim=(
            "An RNN streams, but trains sequentially and forgets; a convolution trains in parallel, but"
            " sees only a window; attention trains in parallel and sees everything, but its state grows"
            " with the length."
        ),
        conclusion=_conclude(rows, memory, config),
        rows=rows,
        curves=[
            LineChart(
                "Recall vs. gap",
                "gap",
                "accuracy",
                [LineSeries(n, config.gaps, v) for n, v in memory.items()],
                references=[ReferenceLine("chance", 0.25)],
            ),
            LineChart(
                "Update time vs. sequence length",
                "length",
                "milliseconds",
                [LineSeries(n, config.lengths, v) for n, v in times.items()],
                log_y=True,
            ),
        ],
        notes=[
            (
                "The longest chain is the longest path of dependent operations in autograd's graph: the"
                " part that cannot run in parallel on any machine."
            ),
            "Times are CPU times on one thread, so nothing runs in parallel here.",
        ],
    )


def _conclude(rows: list[dict[str, Value]], memory: dict[str, list[float]], config: AbilitiesConfig) -> str:
    worst = max(float(row["stream error"]) for row in rows)
    growth = ", ".join(f"{_growth(row):.1f}× for {row['family']}" for row in rows)
    recalls = ", ".join(f"{scores[-1]:.0%} ({name})" for name, scores in memory.items())
    return (
        "All three produce the same outputs token by token as all at once (largest difference"
        f" {worst:.0e}). From {config.lengths[0]} to {config.lengths[-1]} steps, the longest chain grows"
        f" {growth}; only attention's state grows. Recall over {config.gaps[-1]} steps: {recalls}."
    )


def _row(
    name: str, times: list[float], memory: list[float], config: AbilitiesConfig, seed: int
) -> dict[str, Value]:
    short, long = config.lengths[0], config.lengths[-1]
    error, before = _stream(name, short, seed)
    _, after = _stream(name, long, seed)
    return {
        "family": name,
        "stream error": error,
        f"state after {short}": before,
        f"state after {long}": after,
        f"chain at {short}": _chain(name, short, seed),
        f"chain at {long}": _chain(name, long, seed),
        f"ms at {short}": times[0],
        f"ms at {long}": times[-1],
        **{f"recall over {gap}": score for gap, score in zip(config.gaps, memory, strict=True)},
    }


def _growth(row: dict[str, Value]) -> float:
    short, long = (float(value) for name, value in row.items() if name.startswith("chain at"))
    return long / short


@torch.no_grad()
def _stream(name: str, length: int, seed: int) -> tuple[float, int]:
    """The largest difference between decoding token by token and all at once, and the final size of the
    state.
    """
    with seeded(seed, "stream") as generator:
        backbone = RecallModel(name, 9).backbone.eval()
        steps = torch.randn(2, length, HIDDEN, generator=generator)
        is_token = torch.ones(2, length, dtype=torch.bool)
        whole, _ = backbone(steps, is_token)
        state, pieces = None, []
        for step in range(length):
            piece, state = backbone(steps[:, step : step + 1], is_token[:, step : step + 1], state)
            pieces.append(piece)
        assert state is not None
        numbers = sum(_count(part) for part in state)
        return (torch.cat(pieces, dim=1) - whole).abs().max().item(), numbers


def _count(part: Tensor | KVCache) -> int:
    """The number of values per sequence in a part of the state; masks do not count."""
    if isinstance(part, KVCache):
        return part.keys[0].numel() + part.values[0].numel()
    return part[0].numel() if part.is_floating_point() else 0


def _chain(name: str, length: int, seed: int) -> int:
    with seeded(seed, "chain") as generator:
        model = RecallModel(name, 9)
        for layer in getattr(getattr(model.backbone, "stack", None), "layers", ()):
            layer.fast = False  # a fast kernel is a single operation in autograd's graph
        return critical_path_length(model(torch.randn(2, length, 9, generator=generator)))


def _milliseconds(name: str, length: int, config: AbilitiesConfig, seed: int) -> float:
    """The fastest of several updates of one batch."""
    with seeded(seed, "time") as generator:
        model = RecallModel(name, 9)
        steps = torch.randn(8, length, 9, generator=generator)
        return 1000 * min(_seconds(lambda: model(steps).sum().backward()) for _ in range(config.repeats + 1))


def _seconds(work: Callable[[], object]) -> float:
    start_time = time.process_time()
    work()
    return time.process_time() - start_time


def _accuracy(name: str, gap: int, config: AbilitiesConfig, seed: int) -> float:
    task = RecallTask(gap)
    with seeded(seed, "abilities", gap) as generator:
        model = RecallModel(name, task.num_symbols)

        def loss() -> Tensor:
            steps, cue = task.draw(config.batch_size, generator)
            return F.cross_entropy(model(steps)[:, -1], cue)

        train_small(model, loss, steps=config.steps, learning_rate=0.005)
        steps, cue = task.draw(512, generator)
        with torch.no_grad():
            return (model(steps)[:, -1].argmax(dim=-1) == cue).float().mean().item()
