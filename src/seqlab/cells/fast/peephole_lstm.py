"""The peephole LSTM's whole walk, for diagonal peepholes, with back-propagation through time written out by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.blockwise import add_products, blocks, sigmoid_slope, tanh_slope
from seqlab.cells.fast.bptt import before, refuse_second_order, weight_gradients
from seqlab.cells.step_layout import Path


class PeepholeLSTMWalk(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, memory, peephole, path, exposes_new -> outputs, last hidden, last memory.

    `peephole` (3, hidden) has the rows write, forget, expose; zeros make a gate blind. Backward, a gate that sees the memory before the step
    adds local ⊙ peephole to what flows back into it, so the bulk part folds the peepholes of write and forget into one factor and per step

        d hidden = d output + carried            d memory += d hidden ⊙ into_memory
        d gates  = local ⊙ (d memory, d memory, d memory, d hidden)
        carried  = d gates U                     d memory = d memory ⊙ keep + d hidden ⊙ through_expose

    where keep = forget + local_write ⊙ P_i + local_forget ⊙ P_f, and local_expose ⊙ P_o is `through_expose` when the exposing gate sees the memory
    before the step, or part of `into_memory` when it sees the new one.
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
        exposes_new: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())  # (rows, 4 * hidden)
        outputs, memories, shown = gates.new_empty(3, len(rows), hidden.shape[1]).unbind(0)
        last_hidden, last_memory = hidden.clone(), memory.clone()
        _forward_steps(gates, recurrent, last_hidden, last_memory, outputs, memories, shown, path, peephole=peephole, exposes_new=exposes_new)
        ctx.save_for_backward(rows, weight, recurrent, bias, hidden, memory, peephole, gates, outputs, memories, shown)
        ctx.path, ctx.exposes_new = path, exposes_new
        return outputs, last_hidden, last_memory

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_memory: Tensor) -> tuple[Tensor | None, ...]:
        refuse_second_order()
        rows, weight, recurrent, bias, hidden, memory, peephole, gates, outputs, memories, shown = ctx.saved_tensors
        memory_before = before(ctx.path, memory, memories)
        gradient, factors = torch.empty_like(gates), memories.new_empty(3, *memories.shape)  # gradient: first the local derivatives
        _local_derivatives(gates, outputs, shown, memory_before, gradient, factors, peephole=peephole, exposes_new=ctx.exposes_new)
        d_hidden, d_memory = d_last_hidden.clone(), d_last_memory.clone()
        _backward_steps(gradient, recurrent, d_outputs, d_hidden, d_memory, factors, ctx.path, exposes_new=ctx.exposes_new)
        d_peephole = torch.zeros_like(peephole)
        for row, gate in enumerate((0, 1, 3)):
            seen = memories if gate == 3 and ctx.exposes_new else memory_before
            add_products(gradient.view(-1, 4, hidden.shape[1])[:, gate], seen, to=d_peephole[row])
        weights = weight_gradients(ctx, gradient, rows, (ctx.path, hidden, outputs), (weight, recurrent, bias))
        return (*weights, d_hidden, d_memory, d_peephole, None, None)


def _local_derivatives(
    gates: Tensor,
    outputs: Tensor,
    shown: Tensor,
    memory_before: Tensor,
    gradient: Tensor,
    factors: Tensor,
    *,
    peephole: Tensor,
    exposes_new: bool,
) -> None:
    """What one unit of d memory (d hidden for the exposing gate) is worth before each gate's activation; shown is tanh(memory)."""
    size = outputs.shape[1]
    for gate, output, tanh, seen, local, into, keep, through in blocks(gates, outputs, shown, memory_before, gradient, *factors):
        write, forget, candidate, expose = gate.split(size, dim=1)
        to_write, to_forget, to_candidate, to_expose = local.split(size, dim=1)
        sigmoid_slope(write, candidate, out=to_write)
        sigmoid_slope(forget, seen, out=to_forget)
        tanh_slope(candidate, write, out=to_candidate)
        sigmoid_slope(expose, tanh, out=to_expose)
        torch.addcmul(expose, output, tanh, value=-1, out=into)  # expose (1 - tanh²)
        torch.addcmul(forget, to_write, peephole[0], out=keep).addcmul_(to_forget, peephole[1])
        if exposes_new:
            into.addcmul_(to_expose, peephole[2])
        else:
            torch.mul(to_expose, peephole[2], out=through)


def _forward_steps(
    gates: Tensor,
    recurrent: Tensor,
    hidden: Tensor,
    memory: Tensor,
    outputs: Tensor,
    memories: Tensor,
    shown: Tensor,
    path: Path,
    *,
    peephole: Tensor,
    exposes_new: bool,
) -> None:
    """From the projected inputs to the activated gates, in place; the state becomes the last one. shown: tanh(memories)."""
    size, turned, (to_keep, to_expose) = hidden.shape[1], recurrent.t(), peephole.split([2, 1])
    for begin, end, live in path.steps:
        gate, state, kept, output = gates[begin:end], hidden[:live], memory[:live], outputs[begin:end]
        gate.addmm_(state, turned)
        write, forget, candidate, expose = gate.split(size, dim=1)
        gate.view(live, 4, size)[:, :2].addcmul_(kept.unsqueeze(1), to_keep).sigmoid_()
        candidate.tanh_()
        if not exposes_new:
            expose.addcmul_(kept, to_expose)
        kept.mul_(forget).addcmul_(write, candidate)
        if exposes_new:
            expose.addcmul_(kept, to_expose)
        memories[begin:end] = kept
        torch.mul(torch.tanh(kept, out=shown[begin:end]), expose.sigmoid_(), out=output)
        state.copy_(output)


def _backward_steps(
    gradient: Tensor, recurrent: Tensor, d_outputs: Tensor, d_hidden: Tensor, d_memory: Tensor, factors: Tensor, path: Path, *, exposes_new: bool
) -> None:
    """From the local derivatives to the gradients of the gates, in place; d_hidden and d_memory become those of the initial state."""
    size, (into_memory, keep, through_expose) = d_hidden.shape[1], factors
    for begin, end, live in reversed(path.steps):
        d_shown, d_kept, flat = d_hidden[:live], d_memory[:live], gradient[begin:end]
        local = flat.view(live, 4, size)
        d_shown += d_outputs[begin:end]
        d_kept.addcmul_(d_shown, into_memory[begin:end])
        local[:, :3].mul_(d_kept.unsqueeze(1))
        local[:, 3].mul_(d_shown)
        d_kept.mul_(keep[begin:end])
        if not exposes_new:
            d_kept.addcmul_(d_shown, through_expose[begin:end])
        torch.mm(flat, recurrent, out=d_shown)
