"""The projected LSTM's whole walk, with back-propagation through time written out by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.bptt import before, refuse_second_order, weight_gradients
from seqlab.cells.fast.lstm import local_derivatives
from seqlab.cells.step_layout import Path


class ProjectedLSTMWalk(torch.autograd.Function):
    """rows, weight, recurrent, bias, projection, hidden, memory, path -> outputs, last hidden, last memory.

    As the LSTM's walk, with one more product per step each way. Backward, per step, with R the projection:

        d hidden = d output + carried            d exposed = d hidden R
        d memory += d exposed ⊙ expose ⊙ (1 - tanh²(memory))
        d gates  = local ⊙ (d memory, d memory, d memory, d exposed)
        carried  = d gates U                     d memory = d memory ⊙ forget
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        projection: Tensor,
        hidden: Tensor,
        memory: Tensor,
        path: Path,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())  # (rows, 4 * hidden)
        exposed, memories, shown = gates.new_empty(3, len(rows), memory.shape[1]).unbind(0)
        outputs = gates.new_empty(len(rows), hidden.shape[1])  # (rows, proj)
        last_hidden, last_memory = hidden.clone(), memory.clone()
        _forward_steps(gates, recurrent, projection, last_hidden, last_memory, outputs, exposed, memories, shown, path)
        ctx.save_for_backward(rows, weight, recurrent, bias, projection, hidden, memory, gates, outputs, exposed, memories, shown)
        ctx.path = path
        return outputs, last_hidden, last_memory

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_memory: Tensor) -> tuple[Tensor | None, ...]:
        refuse_second_order()
        rows, weight, recurrent, bias, projection, hidden, memory, gates, outputs, exposed, memories, shown = ctx.saved_tensors
        gradient, into_memory = torch.empty_like(gates), torch.empty_like(memories)  # gradient: first the local derivatives of every gate
        local_derivatives(gates, exposed, shown, before(ctx.path, memory, memories), gradient, into_memory)
        arriving, d_hidden, d_memory = d_outputs.clone(), d_last_hidden.clone(), d_last_memory.clone()
        _backward_steps(gradient, recurrent, projection, arriving, d_hidden, d_memory, into_memory, gates, ctx.path)
        weights = weight_gradients(ctx, gradient, rows, (ctx.path, hidden, outputs), (weight, recurrent, bias))
        return (*weights, arriving.t().mm(exposed), d_hidden, d_memory, None)


def _forward_steps(
    gates: Tensor,
    recurrent: Tensor,
    projection: Tensor,
    hidden: Tensor,
    memory: Tensor,
    outputs: Tensor,
    exposed: Tensor,
    memories: Tensor,
    shown: Tensor,
    path: Path,
) -> None:
    """From the projected inputs to the activated gates, in place; the tensors after `memory` are filled, the state becomes the last one."""
    size, turned, to_output = memory.shape[1], recurrent.t(), projection.t()
    for begin, end, live in path.steps:
        gate, state, kept = gates[begin:end], hidden[:live], memory[:live]
        gate.addmm_(state, turned)
        write, forget, candidate, expose = gate.split(size, dim=1)
        gate[:, : 2 * size].sigmoid_()
        candidate.tanh_()
        expose.sigmoid_()
        kept.mul_(forget).addcmul_(write, candidate)
        memories[begin:end] = kept
        torch.mul(torch.tanh(kept, out=shown[begin:end]), expose, out=exposed[begin:end])
        torch.mm(exposed[begin:end], to_output, out=outputs[begin:end])
        state.copy_(outputs[begin:end])


def _backward_steps(
    gradient: Tensor,
    recurrent: Tensor,
    projection: Tensor,
    arriving: Tensor,
    d_hidden: Tensor,
    d_memory: Tensor,
    into_memory: Tensor,
    gates: Tensor,
    path: Path,
) -> None:
    """From the local derivatives to the gradients of the gates, in place; `arriving` comes as d outputs and becomes d hidden of every row,
    d_hidden and d_memory become those of the initial state."""
    size = d_memory.shape[1]
    for begin, end, live in reversed(path.steps):
        carried, d_kept, flat = d_hidden[:live], d_memory[:live], gradient[begin:end]
        local = flat.view(live, 4, size)
        arriving[begin:end] += carried
        d_exposed = arriving[begin:end].mm(projection)
        d_kept.addcmul_(d_exposed, into_memory[begin:end])
        local[:, :3].mul_(d_kept.unsqueeze(1))
        local[:, 3].mul_(d_exposed)
        d_kept.mul_(gates[begin:end, size : 2 * size])  # forget
        torch.mm(flat, recurrent, out=carried)
