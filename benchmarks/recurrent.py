"""Every recurrent cell compared with torch's LSTM: full and ragged batches, with and without C++ kernels.

Ratios are to `nn.LSTM` on the full padded batch of the same run. CPU time with one thread,
which other programs hardly affect; wall time with more. Best of interleaved repeats.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from benchmarks.peak_memory import growth, peak_of
from benchmarks.timing import Timing, interleaved, verdict
from seqlab.blocks.recurrent import build_stack
from seqlab.cells.base import cells
from seqlab.cells.native.library import disable_native, native_kernels

SHAPES = {"A": (32, 100, 256), "B": (64, 200, 128)}
"""Batch, time, and both widths."""
FULL_TARGETS = {
    "lstm": 1.02,
    "gru": 1.02,
    "rnn": 1.02,
    "peephole_lstm": 1.10,
    "coupled_lstm": 0.95,
    "single_gate": 0.70,
    "reset_before_gru": 0.95,
    "layer_norm_lstm": 1.5,
}
NATIVE_TARGETS = {"A": {"lstm": 0.90, "peephole_lstm": 1.0}, "B": {"lstm": 0.75, "peephole_lstm": 1.0}}
FAMILY = ("lstm", "peephole_lstm", "coupled_lstm", "layer_norm_lstm")
KERNELS = (*FAMILY, "gru", "reset_before_gru", "single_gate")
RAGGED, OF_PACKED, LINEAR, MIN_GRU, MEMORY = 0.80, 0.50, 2.1, 0.3, 1.2


def passes(
    module: nn.Module, run: Callable[[Tensor], Tensor], steps: Tensor, weighting: Tensor
) -> Callable[[], object]:
    """One forward and one backward pass."""

    def once() -> None:
        module.zero_grad(set_to_none=True)
        steps.grad = None
        outputs = run(steps)
        (outputs * weighting[..., : outputs.shape[-1]]).sum().backward()  # a projected cell shows less

    return once


def stack_of(cell: str, size: int) -> nn.Module:
    return build_stack(size, cells.get(cell), [size])


def candidates(shape: str, cell_names: list[str], *, with_native: bool) -> dict[str, Callable[[], object]]:
    batch, time, size = SHAPES[shape]
    torch.manual_seed(1)
    steps, weighting = torch.randn(batch, time, size, requires_grad=True), torch.randn(batch, time, size)
    lengths = (
        torch.linspace(0.3 * time, time, batch).round().long()[torch.randperm(batch)]
    )  # uniform in 30 to 100 %, in no order
    masks = {
        "full": torch.ones(batch, time, dtype=torch.bool),
        "ragged": torch.arange(time) < lengths[:, None],
    }
    reference = nn.LSTM(size, size, batch_first=True)

    def packed(steps: Tensor) -> Tensor:
        outputs, _ = reference(pack_padded_sequence(steps, lengths, batch_first=True, enforce_sorted=False))
        return pad_packed_sequence(outputs, batch_first=True, total_length=time)[0]

    found = {
        "nn.LSTM padded": passes(reference, lambda steps: reference(steps)[0], steps, weighting),
        "nn.LSTM packed": passes(reference, packed, steps, weighting),
    }
    for name in cell_names:
        stack = stack_of(name, size)
        for fill, mask in masks.items():
            once = passes(
                stack, lambda steps, stack=stack, mask=mask: stack(steps, mask)[0], steps, weighting
            )
            found[f"{name} {fill} python"] = in_python(once)
            if with_native and name in KERNELS:
                found[f"{name} {fill} native"] = once
    return found


def in_python(once: Callable[[], object]) -> Callable[[], object]:
    def guarded() -> None:
        with disable_native():
            once()

    return guarded


def best(timing: Timing, threads: int) -> float:
    return timing.best_cpu if threads == 1 else timing.best_wall


def compare(shape: str, cell_names: list[str], *, threads: int, repeats: int, with_native: bool) -> None:
    timings = interleaved(candidates(shape, cell_names, with_native=with_native), repeats=repeats, warm_up=2)
    whole, packed = best(timings["nn.LSTM padded"], threads), best(timings["nn.LSTM packed"], threads)
    batch, time, size = SHAPES[shape]
    print(
        f"\nshape {shape}: batch {batch}, time {time}, {size} -> {size}; {threads} thread(s); nn.LSTM padded"
        f" {whole * 1000:.1f} ms"
    )
    print(f"{'nn.LSTM packed, lengths 30-100 %':<36} {packed / whole:.2f}")
    print(
        f"{'cell':<20} {'full':>6} {'ragged':>7} {'of packed':>9}   with kernels: {'full':>6} {'ragged':>7}"
        f" {'of packed':>9}"
    )
    for name in cell_names:
        line, missed = f"{name:<20}", []
        for how in ("python", "native") if with_native and name in KERNELS else ("python",):
            full, ragged = (best(timings[f"{name} {fill} {how}"], threads) for fill in ("full", "ragged"))
            line += f" {full / whole:6.2f} {ragged / whole:7.2f} {ragged / packed:9.2f}" + " " * 17 * (
                how == "python"
            )
            missed += misses(name, shape, how, full / whole, ragged / whole, ragged / packed)
        print(f"{line.rstrip()}{'   MISSED: ' + ', '.join(missed) if missed else ''}")


def misses(name: str, shape: str, how: str, full: float, ragged: float, of_packed: float) -> list[str]:
    """The targets that this line does not meet."""
    target = NATIVE_TARGETS[shape].get(name) if how == "native" else FULL_TARGETS.get(name)
    missed = [f"{how} full {target}"] if target is not None and full > target else []
    if name in FAMILY:
        missed += [f"{how} ragged {RAGGED}"] if ragged > RAGGED else []
        missed += [f"{how} ragged {OF_PACKED} of packed"] if of_packed > OF_PACKED else []
    return missed


def long_sequences(*, threads: int, repeats: int) -> None:
    """minGRU beside nn.GRU at 1,000 steps, and whether twice the time costs twice as much."""
    torch.manual_seed(1)

    def pair(
        make: Callable[[], nn.Module], run: Callable[[nn.Module, Tensor], Tensor], time: int
    ) -> Callable[[], object]:
        module, steps = make(), torch.randn(8, time, 256, requires_grad=True)
        return passes(module, lambda steps: run(module, steps), steps, torch.randn(8, time, 256))

    def layer(module: nn.Module, steps: Tensor) -> Tensor:
        return module(steps)[0]

    def stack(module: nn.Module, steps: Tensor) -> Tensor:
        return module(steps, torch.ones(steps.shape[:2], dtype=torch.bool))[0]

    names = ["lstm", "peephole_lstm", "gru", "min_gru"]
    runs = {"nn.GRU 1000": pair(lambda: nn.GRU(256, 256, batch_first=True), layer, 1000)}
    runs |= {
        f"nn.LSTM {time}": pair(lambda: nn.LSTM(256, 256, batch_first=True), layer, time)
        for time in (1000, 2000)
    }
    runs |= {
        f"{name} {time}": pair(lambda name=name: stack_of(name, 256), stack, time)
        for name in names
        for time in (1000, 2000)
    }
    timings = {name: best(timing, threads) for name, timing in interleaved(runs, repeats=repeats).items()}
    print(f"\nbatch 8, 256 -> 256, {threads} thread(s)")
    print(
        "min_gru at 1,000 steps:"
        f" {verdict(timings['min_gru 1000'] / timings['nn.GRU 1000'], MIN_GRU, unit='of nn.GRU')}"
    )
    for name in ["nn.LSTM", *names]:
        print(
            f"{name}, 2,000 steps:"
            f" {verdict(timings[f'{name} 2000'] / timings[f'{name} 1000'], LINEAR, unit='of 1,000 steps')}"
        )


def print_peak(what: str) -> None:
    """Megabytes that one forward and backward pass adds; it runs once at a tenth of the size first."""
    torch.set_num_threads(1)
    name, _, how = what.partition(" ")
    batch, time, size = 64, 400, 256
    module = nn.LSTM(size, size, batch_first=True) if name == "nn.LSTM" else stack_of(name, size)

    def once(length: int) -> None:
        steps = torch.randn(batch, length, size, requires_grad=True)
        outputs = (
            module(steps) if name == "nn.LSTM" else module(steps, torch.ones(batch, length, dtype=torch.bool))
        )[0]
        outputs.sum().backward()

    with disable_native() if how == "python" else nullcontext():
        print(growth(lambda: once(time // 10), lambda: once(time)))


def memory(cell_names: list[str], *, with_native: bool) -> None:
    def peak(what: str) -> float:
        return peak_of("benchmarks.recurrent", "print_peak", what)

    reference = peak("nn.LSTM")
    print(f"\nmemory of one pass, batch 64, time 400, 256 -> 256: nn.LSTM {reference:.0f} MB")
    for name in cell_names:
        for how in ("python", "native") if with_native and name in KERNELS else ("python",):
            print(
                f"{name:<18} {how:<7} {verdict(peak(f'{name} {how}') / reference, MEMORY, unit='of nn.LSTM')}"
            )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--cells", nargs="*", default=cells.names())
    parser.add_argument("--only", choices=["shapes", "long", "memory"])
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    with_native = native_kernels(torch.zeros(1)) is not None
    print("kernels in C++: " + ("found" if with_native else "not built (make native)"))
    if chosen.only in (None, "shapes"):
        for shape in SHAPES:
            compare(
                shape, chosen.cells, threads=chosen.threads, repeats=chosen.repeats, with_native=with_native
            )
    if chosen.only in (None, "long"):
        long_sequences(threads=chosen.threads, repeats=max(3, chosen.repeats // 2))
    if chosen.only in (None, "memory"):
        memory([name for name in FULL_TARGETS if name in chosen.cells], with_native=with_native)


if __name__ == "__main__":
    main(sys.argv[1:])
