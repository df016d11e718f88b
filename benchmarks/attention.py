"""Multi-head attention compared with an explicit softmax: time with a padding mask, and memory.

CPU time with one thread, wall time with more; best of interleaved repeats.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.peak_memory import growth, peak_of
from benchmarks.timing import interleaved, verdict
from seqlab.attention.heads import attend_heads
from seqlab.attention.masks import AttentionMask

Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
TIMED, REMEMBERED = (16, 8, 256, 64), (4, 4, 1024, 64)
"""Batch, heads, time, width of a head."""
TIME, MEMORY = 0.55, 0.2


def by_hand(q: Tensor, k: Tensor, v: Tensor, is_token: Tensor) -> Tensor:
    scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
    return scores.masked_fill(~is_token[:, None, None, :], -torch.inf).softmax(dim=-1) @ v


def fused(q: Tensor, k: Tensor, v: Tensor, is_token: Tensor) -> Tensor:
    return attend_heads(q, k, v, AttentionMask(is_token[:, None, None, :]))


WAYS: dict[str, Attend] = {"by hand": by_hand, "seqlab": fused}


def one_pass(attend: Attend, shape: tuple[int, int, int, int]) -> Callable[[], object]:
    torch.manual_seed(1)
    q, k, v = (torch.randn(shape, requires_grad=True) for _ in range(3))
    lengths = torch.linspace(0.3 * shape[2], shape[2], shape[0]).round().long()
    is_token = torch.arange(shape[2]) < lengths[:, None]

    def once() -> None:
        attend(q, k, v, is_token).sum().backward()

    return once


def print_peak(way: str) -> None:
    """Megabytes that one forward and backward pass adds."""
    torch.set_num_threads(1)
    batch, heads, time, width = REMEMBERED
    print(growth(one_pass(WAYS[way], (batch, heads, time // 8, width)), one_pass(WAYS[way], REMEMBERED)))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=15)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    timings = interleaved(
        {name: one_pass(way, TIMED) for name, way in WAYS.items()}, repeats=chosen.repeats, warm_up=2
    )
    seconds = {
        name: timing.best_cpu if chosen.threads == 1 else timing.best_wall for name, timing in timings.items()
    }
    print(
        f"batch, heads, time, width {TIMED}, padding mask, {chosen.threads} thread(s): by hand"
        f" {seconds['by hand'] * 1000:.1f} ms"
    )
    print(f"time: {verdict(seconds['seqlab'] / seconds['by hand'], TIME, unit='of by hand')}")
    peaks = {name: peak_of("benchmarks.attention", "print_peak", name) for name in WAYS}
    print(
        f"batch, heads, time, width {REMEMBERED}: by hand {peaks['by hand']:.0f} MB, seqlab"
        f" {peaks['seqlab']:.0f} MB"
    )
    print(f"memory: {verdict(peaks['seqlab'] / peaks['by hand'], MEMORY, unit='of by hand')}")


if __name__ == "__main__":
    main(sys.argv[1:])
