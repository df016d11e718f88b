"""seqlab.nn.RNN, LSTM and GRU compared with torch.nn's: one step, batches and packed sequences, with and without gradients.

Ratios of CPU time to torch's own layer on the same input, on one thread: the median over interleaved rounds and
the range of the middle half of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch.nn.utils.rnn import pack_padded_sequence

from benchmarks.timing import interleaved
from seqlab import nn
from seqlab.cells.native.library import disable_native, native_kernels

SHAPES = {
    "one step": [(1, 1, 64), (1, 1, 256), (8, 1, 128), (64, 1, 128), (64, 1, 512)],
    "batch": [(1, 50, 128), (8, 50, 128), (32, 100, 256), (64, 50, 64), (64, 200, 128), (128, 50, 256)],
    "packed": [(8, 50, 128), (32, 100, 256), (64, 50, 64), (64, 200, 128), (128, 50, 256)],
}
"""Batch, time, and both widths."""
SHORTEST = 0.02
"""Seconds of one measurement: short calls are repeated."""


def inputs_of(form: str, batch: int, time: int, size: int) -> Any:
    steps = torch.randn(time, batch, size)
    if form != "packed":
        return steps
    lengths = torch.linspace(0.3 * time, time, batch).round().long().flip(0)
    return pack_padded_sequence(steps, lengths)


def calls(layer: Any, inputs: Any, *, with_gradients: bool) -> Callable[[], object]:
    def infer() -> None:
        with torch.no_grad():
            layer(inputs)

    def train() -> None:
        layer.zero_grad(set_to_none=True)
        output = layer(inputs)[0]
        (output if isinstance(output, torch.Tensor) else output.data).sum().backward()

    return train if with_gradients else infer


def repeated(once: Callable[[], object], count: int, *, native: bool) -> Callable[[], object]:
    def run() -> None:
        with nullcontext() if native else disable_native():
            for _ in range(count):
                once()

    return run


def compare(kind: str, form: str, shape: tuple[int, int, int], *, with_gradients: bool, repeats: int) -> str:
    """One line: the ratios to torch with and without kernels in C++."""
    torch.manual_seed(1)
    theirs, ours = (getattr(module, kind)(shape[2], shape[2]) for module in (torch.nn, nn))
    ours.load_state_dict(theirs.state_dict())
    inputs = inputs_of(form, *shape)
    once = {
        name: calls(layer, inputs, with_gradients=with_gradients)
        for name, layer in (("torch", theirs), ("ours", ours))
    }
    alone = interleaved({"torch": once["torch"]}, repeats=3)["torch"].best_wall
    count = max(1, round(SHORTEST / max(alone, 1e-6)))
    runs = {
        "torch": repeated(once["torch"], count, native=False),
        "python": repeated(once["ours"], count, native=False),
        "native": repeated(once["ours"], count, native=True),
    }
    found = {name: timing.cpu for name, timing in interleaved(runs, repeats=repeats).items()}
    what = "training" if with_gradients else "inference"
    return (
        f"{kind:<5} {form:<9} {what:<10} batch {shape[0]:>4}  time {shape[1]:>4}  width {shape[2]:>4}"
        f"  torch {min(found['torch']) / count * 1e6:>9.0f} us"
        f"   without kernels {ratio(found['python'], found['torch'])}"
        f"   with kernels {ratio(found['native'], found['torch'])}"
    )


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Median of the ratios of all rounds and the range of their middle half."""
    low, middle, high = statistics.quantiles(
        (our / their for our, their in zip(ours, theirs, strict=True)), n=4
    )
    return f"{middle:5.2f} ({low:.2f} to {high:.2f})"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="*", default=["RNN", "LSTM", "GRU"])
    parser.add_argument("--forms", nargs="*", default=list(SHAPES))
    parser.add_argument("--repeats", type=int, default=9)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    print("kernels in C++: " + ("found" if native_kernels(torch.zeros(1)) else "not built (make native)"))
    for kind in chosen.kinds:
        for form in chosen.forms:
            for with_gradients in (False, True):
                for shape in SHAPES[form]:
                    line = compare(kind, form, shape, with_gradients=with_gradients, repeats=chosen.repeats)
                    print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
