"""The coupled LSTM's whole walk, with back-propagation through time written out by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.blockwise import blocks, sigmoid_slope, tanh_slope
from seqlab.cells.fast.bptt import before, refuse_second_order, weight_gradients
from seqlab.cells.step_layout import Path


class CoupledLSTMWalk(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, memory, path -> outputs, last hidden, last memory.

    As the LSTM's walk, with three gates. Backward, per step:

        d hidden = d output + carried            d memory += d hidden ⊙ expose ⊙ (1 - tanh²(memory))
        d gates  = local ⊙ (d memory, d memory, d hidden)
        carried  = d gates U                     d memory = d memory ⊙ forget
    """

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, weight: Tensor, recurrent: Tensor, bias: Tensor | None, hidden: Tensor, memory: Tensor, path: Path
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())  # (rows, 3 * hidden)
        outputs, memories, shown = gates.new_empty(3, len(rows), hidden.shape[1]).unbind(0)
        last_hidden, last_memory = hidden.clone(), memory.clone()
        _forward_steps(gates, recurrent, last_hidden, last_memory, outputs, memories, shown, path)
        ctx.save_for_backward(rows, weight, recurrent, bias, hidden, memory, gates, outputs, memories, shown)
        ctx.path = path
        return outputs, last_hidden, last_memory

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_memory: Tensor) -> tuple[Tensor | None, ...]:
        refuse_second_order()
        rows, weight, recurrent, bias, hidden, memory, gates, outputs, memories, shown = ctx.saved_tensors
        gradient, into_memory = torch.empty_like(gates), torch.empty_like(memories)  # gradient: first the local derivatives of every gate
        _local_derivatives(gates, outputs, shown, before(ctx.path, memory, memories), gradient, into_memory)
        d_hidden, d_memory = d_last_hidden.clone(), d_last_memory.clone()
        _backward_steps(gradient, recurrent, d_outputs, d_hidden, d_memory, into_memory, gates, ctx.path)
        weights = weight_gradients(ctx, gradient, rows, (ctx.path, hidden, outputs), (weight, recurrent, bias))
        return (*weights, d_hidden, d_memory, None)


def _local_derivatives(gates: Tensor, outputs: Tensor, shown: Tensor, memory_before: Tensor, gradient: Tensor, into_memory: Tensor) -> None:
    """What one unit of d memory (d hidden for the exposing gate) is worth before each gate's activation; shown is tanh(memory)."""
    size = outputs.shape[1]
    for gate, output, tanh, kept, local, into in blocks(gates, outputs, shown, memory_before, gradient, into_memory):
        forget, candidate, expose = gate.split(size, dim=1)
        to_forget, to_candidate, to_expose = local.split(size, dim=1)
        sigmoid_slope(forget, kept - candidate, out=to_forget)
        tanh_slope(candidate, 1 - forget, out=to_candidate)
        sigmoid_slope(expose, tanh, out=to_expose)
        torch.addcmul(expose, output, tanh, value=-1, out=into)  # expose (1 - tanh²)


def _forward_steps(
    gates: Tensor, recurrent: Tensor, hidden: Tensor, memory: Tensor, outputs: Tensor, memories: Tensor, shown: Tensor, path: Path
) -> None:
    """From the projected inputs to the activated gates, in place; the state becomes the last one. shown: tanh(memories)."""
    size, turned = hidden.shape[1], recurrent.t()
    for begin, end, live in path.steps:
        gate, state, kept, output = gates[begin:end], hidden[:live], memory[:live], outputs[begin:end]
        gate.addmm_(state, turned)
        forget, candidate, expose = gate.split(size, dim=1)
        forget.sigmoid_()
        candidate.tanh_()
        expose.sigmoid_()
        torch.lerp(candidate, kept, forget, out=kept)  # forget memory + (1 - forget) candidate
        memories[begin:end] = kept
        torch.mul(torch.tanh(kept, out=shown[begin:end]), expose, out=output)
        state.copy_(output)


def _backward_steps(
    gradient: Tensor, recurrent: Tensor, d_outputs: Tensor, d_hidden: Tensor, d_memory: Tensor, into_memory: Tensor, gates: Tensor, path: Path
) -> None:
    """From the local derivatives to the gradients of the gates, in place; d_hidden and d_memory become those of the initial state."""
    size = d_hidden.shape[1]
    for begin, end, live in reversed(path.steps):
        d_shown, d_kept, flat = d_hidden[:live], d_memory[:live], gradient[begin:end]
        local = flat.view(live, 3, size)
        d_shown += d_outputs[begin:end]
        d_kept.addcmul_(d_shown, into_memory[begin:end])
        local[:, :2].mul_(d_kept.unsqueeze(1))
        local[:, 2].mul_(d_shown)
        d_kept.mul_(gates[begin:end, :size])  # forget
        torch.mm(flat, recurrent, out=d_shown)
