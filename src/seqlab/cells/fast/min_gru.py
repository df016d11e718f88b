"""The minGRU's whole scan: all products before the loop, one operation per step inside it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import is_bypassed, no_gradients, previous_states
from seqlab.cells.step_layout import StepLayout


class MinGRUScan(torch.autograd.Function):
    """rows, input, bias, hidden, layout -> outputs, last hidden.

    Forward: keep = σ(-(W_z x + b_z)) and added = (1 - keep) ⊙ candidate in bulk, then per step, in the place
    of `added`,

        hidden' = added + keep ⊙ hidden

    Backward, in a copy of d outputs, per step: d hidden += keep' ⊙ d hidden', where ' is the next step;
    everything else in bulk. On a CPU this is faster than a parallel scan, because it reads every number once.
    """

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, input_weight: Tensor, bias: Tensor | None, hidden: Tensor, layout: StepLayout
    ) -> tuple[Tensor, Tensor]:
        size = hidden.shape[1]
        keep, candidate = (
            _project(rows, weight, b)
            for weight, b in zip(input_weight.split(size), _halves(bias, size), strict=True)
        )
        keep.neg_().sigmoid_()
        outputs = torch.addcmul(candidate, keep, candidate, value=-1)  # (rows, hidden)
        previous = outputs[:0]
        for begin, end, live in layout.steps:
            now, kept, known = outputs[begin:end], keep[begin:end], min(len(previous), live)
            now[:known].addcmul_(kept[:known], previous[:known])
            if known < live:  # these sequences begin here
                now[known:].addcmul_(kept[known:], hidden[known:live])
            previous = now
        ctx.save_for_backward(rows, input_weight, bias, hidden, keep, candidate, outputs)
        ctx.layout = layout
        return outputs, torch.cat([outputs[begin:end] for begin, end in reversed(_ends(layout))])

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        if is_bypassed(d_outputs, d_last):
            return no_gradients(ctx)
        rows, input_weight, bias, hidden, keep, candidate, outputs = ctx.saved_tensors
        d_added, d_hidden = _scan_back(ctx.layout, keep, d_outputs, d_last)
        update = 1 - keep
        d_gates = torch.cat(
            [
                d_added * (candidate - previous_states(ctx.layout, hidden, outputs)) * keep * update,
                d_added * update,
            ],
            dim=1,
        )
        needs_grad = ctx.needs_input_grad
        return (
            d_gates.mm(input_weight) if needs_grad[0] else None,
            d_gates.t().mm(rows) if needs_grad[1] else None,
            d_gates.sum(dim=0) if bias is not None and needs_grad[2] else None,
            d_hidden,
            None,
        )


def _scan_back(layout: StepLayout, keep: Tensor, d_outputs: Tensor, d_last: Tensor) -> tuple[Tensor, Tensor]:
    """The full gradient of every state (rows, hidden), and that of the initial states."""
    gradient, d_hidden = d_outputs.clone(), torch.empty_like(d_last)
    for (begin, end), part in zip(
        reversed(_ends(layout)),
        d_last.split([end - begin for begin, end in reversed(_ends(layout))]),
        strict=True,
    ):
        gradient[begin:end] += part
    for (begin, end, live), (earlier, _, there) in pairwise([*reversed(layout.steps), (0, 0, 0)]):
        now, kept, known = gradient[begin:end], keep[begin:end], min(there, live)
        gradient[earlier : earlier + known].addcmul_(kept[:known], now[:known])
        if known < live:  # these sequences began here
            torch.mul(kept[known:], now[known:], out=d_hidden[known:live])
    return gradient, d_hidden


def _ends(layout: StepLayout) -> list[tuple[int, int]]:
    """The packed rows at which sequences end, shortest sequences first; in a scan backward in time all end at
    the first step.
    """
    if layout.reverse:
        return [(0, layout.num_sequences)]
    sizes = zip(layout.starts, pairwise([*layout.batch_sizes, 0]), strict=True)
    return [(start + still_live, start + live) for start, (live, still_live) in sizes if still_live < live]


def _project(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())


def _halves(bias: Tensor | None, size: int) -> tuple[Tensor | None, Tensor | None]:
    return (None, None) if bias is None else (bias[:size], bias[size:])
