"""The cost of positional encodings, a sliding window, and dropout on attention weights.

Forward and backward pass of a Transformer backbone on one thread; best CPU time of interleaved repeats.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import torch
from torch.nn import functional as F

from benchmarks.timing import interleaved
from seqlab.attention.block_window import attend_blockwise
from seqlab.attention.masks import AttentionMask
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer import TransformerBackbone
from seqlab.positions.base import positional_encodings


def body_step(*, batch: int, time: int, causal: bool, **settings: object) -> Callable[[], object]:
    torch.manual_seed(1)
    backbone = TransformerBackbone.from_settings(
        TransformerSettings.model_validate({"dropout": 0.0, **settings}), causal=causal
    )
    steps, is_token = torch.randn(batch, time, backbone.input_size), torch.ones(batch, time, dtype=torch.bool)

    def once() -> None:
        backbone.zero_grad(set_to_none=True)
        backbone(steps, is_token)[0].square().sum().backward()

    return once


def window_step(time: int, window: int, how: str) -> Callable[[], object]:
    torch.manual_seed(1)
    q, k, v = (torch.randn(2, 4, time, 64, requires_grad=True) for _ in range(3))

    def once() -> None:
        if how == "blocks":
            attend_blockwise(q, k, v, window=window, causal=True).sum().backward()
            return
        mask = AttentionMask(causal=True, window=window if how == "mask" else 0).materialize(
            time, time, device=q.device
        )
        F.scaled_dot_product_attention(q, k, v, attn_mask=mask.tensor, is_causal=mask.causal).sum().backward()

    return once


def compare_positions(repeats: int) -> None:
    print("\npositions, causal body (ratio to sinusoidal)")
    for layers, size, heads, time, batch in ((4, 128, 4, 64, 12), (2, 256, 4, 512, 4)):
        shape = {
            "layers": layers,
            "hidden_size": size,
            "heads": heads,
            "time": time,
            "batch": batch,
            "causal": True,
        }
        timings = interleaved(
            {kind: body_step(positions=kind, **shape) for kind in positional_encodings.names()},
            repeats=repeats,
        )
        base = timings["sinusoidal"].best_cpu
        ratios = "   ".join(f"{kind} {timing.best_cpu / base:.2f}" for kind, timing in timings.items())
        print(
            f"  {layers} layers, width {size}, {time} steps, batch {batch}: {base * 1000:.0f} ms   {ratios}"
        )


def compare_windows(repeats: int) -> None:
    print("\na window of 128 steps, causal attention alone, batch 2, 4 heads of 64 (ms)")
    for time in (512, 1024, 2048, 4096):
        timings = interleaved(
            {how: window_step(time, 128, how) for how in ("no window", "mask", "blocks")}, repeats=repeats
        )
        print(
            f"  {time} steps   "
            + "   ".join(f"{how} {timing.best_cpu * 1000:.0f}" for how, timing in timings.items())
        )


def compare_dropout(repeats: int) -> None:
    print("\ndropout 0.1 on the attention weights (ratio to none)")
    for layers, size, heads, time, batch in ((4, 128, 4, 64, 12), (2, 256, 4, 256, 8), (1, 32, 2, 200, 128)):
        shape = {
            "layers": layers,
            "hidden_size": size,
            "heads": heads,
            "time": time,
            "batch": batch,
            "causal": False,
        }
        timings = interleaved(
            {str(share): body_step(attention_dropout=share, **shape) for share in (0.0, 0.1)}, repeats=repeats
        )
        ratio = timings["0.1"].best_cpu / timings["0.0"].best_cpu
        print(f"  {layers} layers, width {size}, {heads} heads, {time} steps, batch {batch}: {ratio:.1f}")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=8)
    repeats = parser.parse_args(arguments).repeats
    torch.set_num_threads(1)
    compare_positions(repeats)
    compare_windows(repeats)
    compare_dropout(repeats)


if __name__ == "__main__":
    main(sys.argv[1:])
