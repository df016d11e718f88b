"""The LSTM's whole walk: by torch's fused layer, or with back-propagation through time written out by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.fast.apply import applied
from seqlab.cells.fast.blockwise import blocks, sigmoid_slope, tanh_slope
from seqlab.cells.fast.bptt import before, refuse_second_order, weight_gradients
from seqlab.cells.step_layout import Gathered, Path, Scattered

SHUT = 1e4
"""σ(SHUT + anything usual) is 1 to the last bit, and σ(-SHUT + anything usual) is 0."""


class LSTMWalk(torch.autograd.Function):
    """rows, weight, recurrent, bias, hidden, memory, path, sigmoid candidate -> outputs, last hidden, last memory.

    Forward: one product for the inputs of all steps, then one product and a few operations in place per step; what is stored are the activated
    gates and the memories. Backward: the local derivatives of all gates in bulk, then per step

        d hidden = d output + carried            d memory += d hidden ⊙ expose ⊙ (1 - tanh²(memory))
        d gates  = local ⊙ (d memory, d memory, d memory, d hidden)
        carried  = d gates U                     d memory = d memory ⊙ forget

    and two products for the weights of all steps.
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
        path: Path,
        sigmoid_candidate: bool = False,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates = rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())  # (rows, 4 * hidden)
        outputs, memories, shown = gates.new_empty(3, len(rows), hidden.shape[1]).unbind(0)
        last_hidden, last_memory = hidden.clone(), memory.clone()
        _forward_steps(gates, recurrent, last_hidden, last_memory, outputs, memories, shown, path, sigmoid_candidate=sigmoid_candidate)
        ctx.save_for_backward(rows, weight, recurrent, bias, hidden, memory, gates, outputs, memories, shown)
        ctx.path, ctx.sigmoid_candidate = path, sigmoid_candidate
        return outputs, last_hidden, last_memory

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_memory: Tensor) -> tuple[Tensor | None, ...]:
        refuse_second_order()
        rows, weight, recurrent, bias, hidden, memory, gates, outputs, memories, shown = ctx.saved_tensors
        gradient, into_memory = torch.empty_like(gates), torch.empty_like(memories)  # gradient: first the local derivatives of every gate
        local_derivatives(gates, outputs, shown, before(ctx.path, memory, memories), gradient, into_memory, sigmoid_candidate=ctx.sigmoid_candidate)
        d_hidden, d_memory = d_last_hidden.clone(), d_last_memory.clone()
        _backward_steps(gradient, recurrent, d_outputs, d_hidden, d_memory, into_memory, gates, ctx.path)
        weights = weight_gradients(ctx, gradient, rows, (ctx.path, hidden, outputs), (weight, recurrent, bias))
        return (*weights, d_hidden, d_memory, None, None)


def local_derivatives(
    gates: Tensor, outputs: Tensor, shown: Tensor, memory_before: Tensor, gradient: Tensor, into_memory: Tensor, *, sigmoid_candidate: bool = False
) -> None:
    """What one unit of d memory (d hidden for the exposing gate) is worth before each gate's activation; shown is tanh(memory)."""
    size = outputs.shape[1]
    for gate, output, tanh, kept, local, into in blocks(gates, outputs, shown, memory_before, gradient, into_memory):
        write, forget, candidate, expose = gate.split(size, dim=1)
        to_write, to_forget, to_candidate, to_expose = local.split(size, dim=1)
        sigmoid_slope(write, candidate, out=to_write)
        sigmoid_slope(forget, kept, out=to_forget)
        (sigmoid_slope if sigmoid_candidate else tanh_slope)(candidate, write, out=to_candidate)
        sigmoid_slope(expose, tanh, out=to_expose)
        torch.addcmul(expose, output, tanh, value=-1, out=into)  # expose (1 - tanh²)


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
    sigmoid_candidate: bool,
) -> None:
    """From the projected inputs to the activated gates, in place; the state becomes the last one. shown: tanh(memories)."""
    size, turned = hidden.shape[1], recurrent.t()
    for begin, end, live in path.steps:
        gate, state, kept, output = gates[begin:end], hidden[:live], memory[:live], outputs[begin:end]
        gate.addmm_(state, turned)
        write, forget, candidate, expose = gate.split(size, dim=1)
        if sigmoid_candidate:
            gate.sigmoid_()
        else:
            gate[:, : 2 * size].sigmoid_()
            candidate.tanh_()
            expose.sigmoid_()
        kept.mul_(forget).addcmul_(write, candidate)
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
        local = flat.view(live, 4, size)
        d_shown += d_outputs[begin:end]
        d_kept.addcmul_(d_shown, into_memory[begin:end])
        local[:, :3].mul_(d_kept.unsqueeze(1))
        local[:, 3].mul_(d_shown)
        d_kept.mul_(gates[begin:end, size : 2 * size])  # forget
        torch.mm(flat, recurrent, out=d_shown)


def fused_walk(rows: Tensor, weights: tuple[Tensor, Tensor, Tensor | None], state: tuple[Tensor, ...], path: Path) -> tuple[Tensor, Tensor, Tensor]:
    """The same by torch's own layer, which a full-length walk on a CPU cannot beat without a kernel of its own."""
    weight, recurrent, bias = weights
    steps = rows.reshape(-1, path.num_sequences, rows.shape[1])  # (time, batch, input)
    parameters = [weight, recurrent] if bias is None else [weight, recurrent, bias, torch.zeros_like(bias)]
    outputs, last_hidden, last_memory = torch.lstm(
        steps.flip(0) if path.reverse else steps,
        tuple(part.unsqueeze(0) for part in state),
        parameters,
        bias is not None,
        1,
        0.0,
        torch.is_grad_enabled(),
        False,
        False,
    )
    outputs = outputs.flip(0) if path.reverse else outputs
    found: tuple[Tensor, Tensor, Tensor] = applied(_FirstOrderOnly, outputs.reshape(len(rows), -1), last_hidden[0], last_memory[0])
    return found


def held_walk(rows: Tensor, weights: tuple[Tensor, Tensor, Tensor | None], state: tuple[Tensor, ...], path: Path) -> tuple[Tensor, Tensor, Tensor]:
    """Sequences of about the same length: torch's layer over the padded batch, where the memories of those that have ended are held.

    One more input is 1 in the padding and 0 elsewhere; it opens the forget gate and shuts the writing one, so that memory' = 1 · memory + 0.
    The saturated gates pass the gradient of the last memory back as it is. Backward walks take each sequence from its end, so that their padding
    stands last, too.
    """
    weight, recurrent, bias = weights
    size, batch = recurrent.shape[1], path.num_sequences
    ended = torch.ones(batch * len(path.sizes), 1, dtype=rows.dtype).index_fill_(0, path.grid, 0.0)
    padded = torch.cat([applied(Scattered, rows, path.grid, len(ended)), ended], dim=1)
    hold = torch.zeros(len(weight), 1, dtype=weight.dtype)
    hold[:size], hold[size : 2 * size] = -SHUT, SHUT
    full = Path(tuple(range(0, len(ended), batch)), (batch,) * len(path.sizes), reverse=False, device=path.device)
    outputs, _, memory = fused_walk(padded, (torch.cat([weight, hold], dim=1), recurrent, bias), state, full)
    last = (path.lengths - 1) * batch + torch.arange(batch)
    return applied(Gathered, outputs, path.grid), applied(Gathered, outputs, last), memory


class _FirstOrderOnly(torch.autograd.Function):
    """Nothing but a refusal: torch's fused layer has no second derivatives, and does not say what to do about it."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:  # noqa: ARG004 - autograd's signature
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:  # noqa: ARG004 - autograd's signature
        refuse_second_order()
        return gradients
