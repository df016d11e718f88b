"""The layer-normalised LSTM's whole walk, with back-propagation through time written out by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seqlab.cells.handwritten import before, refuse_second_order
from seqlab.cells.lstm_fast import local_derivatives
from seqlab.cells.packing import Path

EPSILON = 1e-5
"""Added to the variance, as in torch's own layer norm."""
Moments = tuple[Tensor, Tensor]
"""Mean and 1/deviation of every row that was normalised."""


class LayerNormLSTMWalk(torch.autograd.Function):
    """rows, weight, recurrent, bias, three gains, memory_shift, hidden, memory, path -> outputs, last hidden, last memory.

    Kept for the way back are the gates, the sums before their norms, the memories, and each norm's mean and 1/deviation. Backward, per step:

        d hidden   = d output + carried           d memory += norm'(d hidden ⊙ expose ⊙ (1 - tanh²))
        d gates    = local ⊙ (d memory, d memory, d memory, d hidden)
        d product  = norm'(d gates)
        carried    = d product U                  d memory = d memory ⊙ forget
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        recurrent: Tensor,
        bias: Tensor | None,
        input_gain: Tensor,
        recurrent_gain: Tensor,
        memory_gain: Tensor,
        memory_shift: Tensor | None,
        hidden: Tensor,
        memory: Tensor,
        path: Path,
    ) -> tuple[Tensor, Tensor, Tensor]:
        sums = rows.mm(weight.t())  # (rows, 4 * hidden)
        gates, *moments = torch.native_layer_norm(sums, input_gain.shape, input_gain, bias, EPSILON)
        products, (outputs, memories, shown) = torch.empty_like(gates), gates.new_empty(3, len(gates), hidden.shape[1]).unbind(0)
        last_hidden, last_memory, norms = hidden.clone(), memory.clone(), (recurrent_gain, memory_gain, memory_shift)
        ctx.moments = _forward_steps(gates, products, recurrent, norms, last_hidden, last_memory, outputs, memories, shown, path)
        ctx.save_for_backward(
            rows, weight, recurrent, bias, input_gain, recurrent_gain, memory_gain, memory_shift, hidden, memory,
            sums, *moments, gates, products, outputs, memories, shown,
        )  # fmt: skip
        ctx.path = path
        return outputs, last_hidden, last_memory

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, d_last_hidden: Tensor, d_last_memory: Tensor) -> tuple[Tensor | None, ...]:
        refuse_second_order()
        (
            rows, weight, recurrent, bias, input_gain, recurrent_gain, memory_gain, memory_shift, hidden, memory,
            sums, mean, scale, gates, products, outputs, memories, shown,
        ) = ctx.saved_tensors  # fmt: skip
        gradient, into_norm = torch.empty_like(gates), torch.empty_like(memories)  # gradient: first the local derivatives of every gate
        local_derivatives(gates, outputs, shown, before(ctx.path, memory, memories), gradient, into_norm)
        d_hidden, d_memory = d_last_hidden.clone(), d_last_memory.clone()
        d_gains = (torch.zeros_like(recurrent_gain), torch.zeros_like(memory_gain))
        d_products = _backward_steps(
            (recurrent, recurrent_gain, memory_gain, d_outputs, gates, products, memories, ctx.moments),
            (gradient, into_norm, d_hidden, d_memory, *d_gains),
            ctx.path,
        )
        d_recurrent = d_products.t().mm(before(ctx.path, hidden, outputs)) if ctx.needs_input_grad[2] else None
        d_bias = None if bias is None else gradient.sum(dim=0)
        d_shift = None if memory_shift is None else into_norm.sum(dim=0)
        d_sums, d_input_gain = _norm_gradients(gradient, sums, (mean, scale), input_gain)
        d_rows = d_sums.mm(weight) if ctx.needs_input_grad[0] else None
        d_weight = d_sums.t().mm(rows) if ctx.needs_input_grad[1] else None
        return d_rows, d_weight, d_recurrent, d_bias, d_input_gain, *d_gains, d_shift, d_hidden, d_memory, None


def _forward_steps(
    gates: Tensor,
    products: Tensor,
    recurrent: Tensor,
    norms: tuple[Tensor, Tensor, Tensor | None],
    hidden: Tensor,
    memory: Tensor,
    outputs: Tensor,
    memories: Tensor,
    shown: Tensor,
    path: Path,
) -> list[tuple[Moments, Moments]]:
    """Everything of every row is filled in, the state becomes the last one; returns the moments of products and memories, step by step."""
    size, turned, (recurrent_gain, memory_gain, memory_shift) = hidden.shape[1], recurrent.t(), norms
    moments: list[tuple[Moments, Moments]] = []
    for begin, end, live in path.steps:
        gate, state, kept = gates[begin:end], hidden[:live], memory[:live]
        product = torch.mm(state, turned, out=products[begin:end])
        normed, mean, scale = torch.native_layer_norm(product, (4 * size,), recurrent_gain, None, EPSILON)
        gate += normed
        write, forget, candidate, expose = gate.split(size, dim=1)
        gate[:, : 2 * size].sigmoid_()
        candidate.tanh_()
        expose.sigmoid_()
        kept.mul_(forget).addcmul_(write, candidate)
        memories[begin:end] = kept
        normed, memory_mean, memory_scale = torch.native_layer_norm(kept, (size,), memory_gain, memory_shift, EPSILON)
        torch.mul(torch.tanh(normed, out=shown[begin:end]), expose, out=outputs[begin:end])
        state.copy_(outputs[begin:end])
        moments.append(((mean, scale), (memory_mean, memory_scale)))
    return moments


def _backward_steps(given: tuple[Any, ...], found: tuple[Tensor, ...], path: Path) -> Tensor:
    """From the local derivatives to the gradients of gates, memory norm, initial state and gains, all in `found`; returns that of the products."""
    recurrent, recurrent_gain, memory_gain, d_outputs, gates, products, memories, moments = given
    gradient, into_norm, d_hidden, d_memory, d_recurrent_gain, d_memory_gain = found
    size, d_products = d_hidden.shape[1], torch.empty_like(products)
    for (begin, end, live), (of_product, of_memory) in zip(reversed(path.steps), reversed(moments), strict=True):
        d_shown, d_kept, flat = d_hidden[:live], d_memory[:live], gradient[begin:end]
        local = flat.view(live, 4, size)
        d_shown += d_outputs[begin:end]
        d_normed = into_norm[begin:end].mul_(d_shown)
        d_from_norm, d_gain = _norm_gradients(d_normed, memories[begin:end], of_memory, memory_gain)
        d_kept += d_from_norm
        d_memory_gain += d_gain
        local[:, :3].mul_(d_kept.unsqueeze(1))
        local[:, 3].mul_(d_shown)
        d_kept.mul_(gates[begin:end, size : 2 * size])  # forget
        d_product, d_gain = _norm_gradients(flat, products[begin:end], of_product, recurrent_gain)
        d_recurrent_gain += d_gain
        d_products[begin:end] = d_product
        torch.mm(d_product, recurrent, out=d_shown)
    return d_products


def _norm_gradients(gradient: Tensor, values: Tensor, moments: Moments, gain: Tensor) -> tuple[Tensor, Tensor]:
    """From the gradient of gain ⊙ norm(values) to those of the values and of the gain."""
    found = torch.ops.aten.native_layer_norm_backward(gradient, values, gain.shape, *moments, gain, None, [True, True, False])
    return found[0], found[1]
