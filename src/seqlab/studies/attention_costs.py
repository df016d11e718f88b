"""The cost of a layer as sequences grow: recurrence, convolution and attention, measured."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from seqlab.attention.multi_head import MultiHeadSelfAttention
from seqlab.blocks.convolution import ConvolutionLayer
from seqlab.blocks.recurrent import build_stack
from seqlab.cells.lstm import LSTM
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.critical_path import critical_path_length
from seqlab.studies.kit.saved_memory import saved_for_backward
from seqlab.studies.kit.small_training import seeded

WIDTH, HEADS, KERNEL, BATCH = 64, 4, 3, 2
RECURRENCE = "recurrence (lstm)"


class ExplicitAttention(nn.Module):
    """Self-attention that stores its weights: (time, time) numbers for each head."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, steps: Tensor) -> Tensor:
        q, k, v = self.qkv(steps).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(2, 3) / q.shape[-1] ** 0.5).softmax(dim=-1)  # (batch, heads, time, time)
        return self.output((weights @ v).transpose(1, 2).flatten(2))


@studies.register("attention_costs")
def attention_costs(*, seed: int, quick: bool) -> Finding:
    """One layer of each kind at growing lengths: time, memory for the backward pass, sequential
    operations, and path length between the two ends.
    """
    lengths = (128, 256, 512) if quick else (64, 128, 256, 512, 1024)
    layers = _layers(seed)
    rows = [
        _row(name, run, length, repeats=1 if quick else 3)
        for name, run in layers.items()
        for length in lengths
    ]
    return Finding(
        claim=(
            "Attention's time and memory grow quadratically with length, but it connects any two steps"
            " directly and computes all steps in parallel."
        ),
        conclusion=_conclude(rows, lengths),
        rows=rows,
        curves=[
            LineChart(
                "Time, forward and backward",
                "length",
                "milliseconds",
                _series(rows, "milliseconds", layers, lengths),
                log_y=True,
            ),
            LineChart(
                "Memory stored for the backward pass",
                "length",
                "kilobytes",
                _series(rows, "kilobytes kept", layers, lengths),
                log_y=True,
            ),
        ],
        notes=[
            (
                f"Width {WIDTH}, {HEADS} heads, kernels of {KERNEL} steps, batch size {BATCH}, CPU time"
                " on one thread (best of the repeats)."
            ),
            (
                "Longest chain: the longest path of dependent operations in autograd's graph; the"
                " recurrence uses the step-by-step reference scan."
            ),
            (
                "Steps between the ends: the number of layers (convolution, attention) or time steps"
                " (recurrence) between the first and the last step."
            ),
            (
                f"Each convolution layer extends the receptive field by {KERNEL - 1} steps; with"
                " dilation, the number of layers would grow logarithmically."
            ),
            (
                "The fused kernel computes the same sums block by block without storing the weights: its"
                " memory grows linearly with length, its time quadratically."
            ),
        ],
    )


def _layers(seed: int) -> dict[str, Callable[[Tensor], Tensor]]:
    with seeded(seed, "attention_costs"):
        recurrent = build_stack(WIDTH, LSTM, [WIDTH])
        convolution = ConvolutionLayer(WIDTH, kernel_size=KERNEL, dilation=1, causal=True, dropout=0.0)
        attention, written_out = MultiHeadSelfAttention(WIDTH, num_heads=HEADS), ExplicitAttention()

    def real(steps: Tensor) -> Tensor:
        return torch.ones(steps.shape[:2], dtype=torch.bool)

    return {
        RECURRENCE: lambda steps: recurrent(steps, real(steps))[0],
        "convolution": lambda steps: convolution(steps, real(steps), None)[0],
        "attention, written out": written_out,
        "attention, fused kernel": lambda steps: attention(steps)[0],
    }


def _row(name: str, run: Callable[[Tensor], Tensor], length: int, *, repeats: int) -> dict[str, Value]:
    steps = torch.randn(
        BATCH, length, WIDTH, generator=torch.Generator().manual_seed(length), requires_grad=True
    )
    seconds = []
    for _ in range(repeats + 1):
        start_time = time.process_time()
        run(steps).sum().backward()
        seconds.append(time.process_time() - start_time)
    with saved_for_backward() as saved:
        output = run(steps)
    apart = {RECURRENCE: length - 1, "convolution": -(-(length - 1) // (KERNEL - 1))}
    return {
        "layer": name,
        "length": length,
        "milliseconds": 1000 * min(seconds[1:]),
        "kilobytes kept": saved.num_bytes / 1024,
        "longest chain": critical_path_length(_scan_state(length) if name == RECURRENCE else output),
        "steps between the ends": apart.get(name, 1),
    }


def _scan_state(length: int) -> Tensor:
    """The state after a reference scan, since a fast scan is a single node of autograd's graph and hides
    its sequential operations.
    """
    cell = LSTM(WIDTH, WIDTH)
    step = torch.zeros(1, WIDTH)
    state = cell.zero_state(step)
    for _ in range(length):
        _, state = cell(step, state)
    return state[0]


def _series(
    rows: list[dict[str, Value]],
    column: str,
    layers: dict[str, Callable[[Tensor], Tensor]],
    lengths: tuple[int, ...],
) -> list[LineSeries]:
    return [
        LineSeries(name, lengths, [float(row[column]) for row in rows if row["layer"] == name])
        for name in layers
    ]


def _conclude(rows: list[dict[str, Value]], lengths: tuple[int, ...]) -> str:
    def growth(name: str, column: str) -> float:
        first, last = (
            next(float(row[column]) for row in rows if row["layer"] == name and row["length"] == length)
            for length in lengths[-2:]
        )
        return last / first

    parts = [
        f"{name} {growth(name, 'kilobytes kept'):.2f}× the memory and {growth(name, 'milliseconds'):.2f}×"
        " the time"
        for name in dict.fromkeys(str(row["layer"]) for row in rows)
    ]
    return f"From {lengths[-2]} to {lengths[-1]} steps: {'; '.join(parts)}."
