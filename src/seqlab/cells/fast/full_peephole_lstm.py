"""The whole walk of a peephole LSTM with full matrices, with back-propagation through time written out by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import before, refuse_second_order, weight_gradients
from seqlab.cells.fast.lstm import local_derivatives
from seqlab.cells.step_layout import Path


class FullPeepholeLSTMWalk(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, memory, peephole, path -> outputs, last hidden, last memory.

    `peephole` (4 * hidden, hidden) stands beside U in the order of the gates. Hidden state and memory lie side by side in one buffer, so that
    one product serves both: [hidden, memory] [U, P]ᵀ. Every gate sees the memory before the step. Backward, per step:

        d hidden = d output + carried            d memory += d hidden ⊙ expose ⊙ (1 - tanh²(memory))
        d gates  = local ⊙ (d memory, d memory, d memory, d hidden)
        carried  = d gates U                     d memory = d memory ⊙ forget + d gates P
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        hidden: Tensor,
        memory: Tensor,
        peephole: Tensor,
        path: Path,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())  # (rows, 4 * hidden)
        outputs, memories, shown = gates.new_empty(3, len(rows), hidden.shape[1]).unbind(0)
        joint = torch.cat([recurrent, peephole], dim=1)  # (4 * hidden, 2 * hidden)
        last = torch.cat([hidden, memory], dim=1)  # (batch, 2 * hidden)
        _forward_steps(gates, joint, last, outputs, memories, shown, path)
        ctx.save_for_backward(rows, weight, recurrent, bias, hidden, memory, joint, gates, outputs, memories, shown)
        ctx.path = path
        last_hidden, last_memory = last.chunk(2, dim=1)
        return outputs, last_hidden.contiguous(), last_memory.contiguous()

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_memory: Tensor) -> tuple[Tensor | None, ...]:
        refuse_second_order()
        rows, weight, recurrent, bias, hidden, memory, joint, gates, outputs, memories, shown = ctx.saved_tensors
        memory_before = before(ctx.path, memory, memories)
        gradient, into_memory = torch.empty_like(gates), torch.empty_like(memories)  # gradient: first the local derivatives of every gate
        local_derivatives(gates, outputs, shown, memory_before, gradient, into_memory)
        d_state = torch.cat([d_last_hidden, d_last_memory], dim=1)  # (batch, 2 * hidden)
        _backward_steps(gradient, joint, d_outputs, d_state, into_memory, gates, ctx.path)
        d_hidden, d_memory = d_state.chunk(2, dim=1)
        d_peephole = gradient.t().mm(memory_before)
        weights = weight_gradients(ctx, gradient, rows, (ctx.path, hidden, outputs), (weight, recurrent, bias))
        return (*weights, d_hidden, d_memory, d_peephole, None)


def _forward_steps(gates: Tensor, joint: Tensor, last: Tensor, outputs: Tensor, memories: Tensor, shown: Tensor, path: Path) -> None:
    """From the projected inputs to the activated gates, in place; the state becomes the last one. shown: tanh(memories)."""
    size, turned = outputs.shape[1], joint.t()
    for begin, end, live in path.steps:
        gate, state, output = gates[begin:end], last[:live], outputs[begin:end]
        hidden, kept = state.split(size, dim=1)
        gate.addmm_(state, turned)
        write, forget, candidate, expose = gate.split(size, dim=1)
        gate[:, : 2 * size].sigmoid_()
        candidate.tanh_()
        expose.sigmoid_()
        kept.mul_(forget).addcmul_(write, candidate)
        memories[begin:end] = kept
        torch.mul(torch.tanh(kept, out=shown[begin:end]), expose, out=output)
        hidden.copy_(output)


def _backward_steps(gradient: Tensor, joint: Tensor, d_outputs: Tensor, d_state: Tensor, into_memory: Tensor, gates: Tensor, path: Path) -> None:
    """From the local derivatives to the gradients of the gates, in place; d_state becomes that of the initial state."""
    size = d_outputs.shape[1]
    for begin, end, live in reversed(path.steps):
        d_both, flat = d_state[:live], gradient[begin:end]
        d_shown, d_kept = d_both.split(size, dim=1)
        local = flat.view(live, 4, size)
        d_shown += d_outputs[begin:end]
        d_kept.addcmul_(d_shown, into_memory[begin:end])
        local[:, :3].mul_(d_kept.unsqueeze(1))
        local[:, 3].mul_(d_shown)
        d_kept.mul_(gates[begin:end, size : 2 * size])  # forget
        d_shown.zero_()
        d_both.addmm_(flat, joint)
