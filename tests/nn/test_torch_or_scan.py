"""Which calls torch's own layer runs, and which ones a scan: the faster one, as measured by
`python -m benchmarks.drop_in_layers`.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

from seqlab import nn
from seqlab.cells import kernel_choice
from seqlab.cells.kernel_choice import kernel_beats_torch

MEASURED = kernel_choice.MIN_PACKED_STEPS


@pytest.fixture(autouse=True)
def _as_measured(_short_scans: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_choice, "MIN_PACKED_STEPS", MEASURED)


def is_run_by_torch(layer: Any, inputs: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    original, calls = getattr(torch.nn, type(layer).__name__), []
    forward = original.forward
    monkeypatch.setattr(original, "forward", lambda *args: calls.append(args) or forward(*args))
    layer(inputs)
    return bool(calls)


def packed(batch: int, time: int, size: int) -> Any:
    return pack_padded_sequence(torch.randn(time, batch, size), torch.full((batch,), time))


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
@pytest.mark.parametrize(
    ("shape", "with_gradients", "runs_torch"),
    [
        ((8, 2, 64), False, True),  # twice as slow with a kernel
        ((8, 2, 64), True, True),
        ((2, 24, 512), False, True),
        ((8, 24, 64), False, False),
        ((8, 16, 64), True, False),
    ],
)
def test_few_packed_steps_are_left_to_torch(
    kind: str,
    shape: tuple[int, int, int],
    with_gradients: bool,
    runs_torch: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layer = getattr(nn, kind)(shape[2], shape[2])
    with torch.set_grad_enabled(with_gradients):
        assert is_run_by_torch(layer, packed(*shape), monkeypatch) == runs_torch


@pytest.mark.parametrize(("steps", "runs_torch"), [(15, True), (16, False)])
def test_without_kernels_packed_training_is_scanned_from_16_steps_on(
    steps: int, runs_torch: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_run_by_torch(nn.RNN(4, 6), packed(3, steps, 4), monkeypatch) == runs_torch
    with torch.no_grad():
        assert is_run_by_torch(nn.RNN(4, 6), packed(3, 50, 4), monkeypatch)


@pytest.mark.parametrize(
    ("cell", "shape", "with_gradients", "beats"),
    [
        ("gru", (4096, 1, 64), True, False),  # one step was up to three times as slow with a kernel
        ("lstm", (4096, 1, 64), True, False),
        ("gru", (1, 23, 64), True, False),
        ("gru", (1, 24, 512), True, True),
        ("gru", (1, 24, 512), False, False),
        ("gru", (1, 24, 64), False, True),
        ("lstm", (64, 50, 64), False, False),
        ("lstm", (64, 50, 64), True, True),
        ("lstm", (32, 100, 256), True, True),
        ("lstm", (32, 48, 64), True, False),
        ("lstm", (64, 48, 512), True, False),
        ("lstm", (8, 1000, 64), True, False),
    ],
)
def test_batches_take_a_kernel_where_it_was_measured_to_be_faster(
    cell: Any, shape: tuple[int, int, int], with_gradients: bool, beats: bool
) -> None:
    batch, time, size = shape
    with torch.set_grad_enabled(with_gradients):
        found = kernel_beats_torch(cell, num_steps=time, num_sequences=batch, hidden_size=size)
    assert found == beats
