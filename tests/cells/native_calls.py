"""For every kernel arguments that it accepts, and for every argument values that it must refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

Shape = tuple[int, ...]
Arguments = dict[str, Any]

GATES = {"lstm": 4, "peephole_lstm": 4, "peephole_lstm_new": 4, "coupled_lstm": 3, "gru": 3, "single_gate": 2}


def shapes_of(kernel: str, rows: int, batch: int, width: int) -> dict[str, Shape | None]:
    """By argument; None for one that this kernel has no use for."""
    cell, _, way = kernel.rpartition("_")
    state, steps = (batch, width), (rows, width)
    if cell == "reset_before_gru":
        common = {"gates": (rows, 3 * width), "recurrent": (3 * width, width)}
        if way == "forward":
            return {**common, "hidden": state, "outputs": steps}
        return {
            **common,
            "outputs": steps,
            "initial": state,
            "d_outputs": steps,
            "d_hidden": state,
            "gradient": (rows, 3 * width),
        }
    if cell == "layer_norm_lstm":
        return _layer_norm_shapes(way, rows, batch, width)
    size = GATES[cell] * width
    has_cell_state, is_gru, peeps = (
        cell.endswith("lstm") or cell == "peephole_lstm_new",
        cell == "gru",
        cell.startswith("peephole"),
    )
    kept = None if cell == "single_gate" else steps
    if way == "forward":
        shapes = {
            "gates": (rows, size),
            "recurrent": (size, width),
            "bias": (size,),
            "hidden": state,
            "cell_state": state if has_cell_state else None,
        }
        return {
            **shapes,
            "outputs": steps,
            "kept": kept,
            "extra": (3, width) if peeps else (width,) if is_gru else None,
        }
    shapes = {
        "gates": (rows, size),
        "recurrent": (size, width),
        "kept": kept,
        "earlier": steps,
        "initial": state,
        "d_outputs": steps,
    }
    shapes |= {
        "d_hidden": state,
        "d_cell_state": state if has_cell_state else None,
        "gradient": (rows, size),
        "d_candidate": steps if is_gru else None,
    }
    return {**shapes, "d_bias": (size,), "extra": (3, width) if peeps else None}


def _layer_norm_shapes(way: str, rows: int, batch: int, width: int) -> dict[str, Shape | None]:
    state, steps, gates = (batch, width), (rows, width), (rows, 4 * width)
    scales: dict[str, Shape | None] = {
        "input_gain": (4 * width,),
        "shift": (4 * width,),
        "gain": (4 * width,),
    }
    scales |= {"cell_gain": (width,), "cell_shift": (width,)}
    common = {"sums": gates, "products": gates, "recurrent": (4 * width, width), **scales}
    if way == "forward":
        return {
            **common,
            "hidden": state,
            "cell_state": state,
            "outputs": steps,
            "cell_states": steps,
            "moments": (6, rows),
        }
    shapes = {
        **common,
        "cell_states": steps,
        "moments": (6, rows),
        "initial": state,
        "d_outputs": steps,
        "d_hidden": state,
        "d_cell_state": state,
    }
    return {
        **shapes,
        "d_sums": gates,
        "d_products": gates,
        "d_gains": (3, 4 * width),
        "d_cell_gains": (2, width),
    }


KERNELS = [
    f"{cell}_{way}"
    for cell in (*GATES, "reset_before_gru", "layer_norm_lstm")
    for way in ("forward", "backward")
]


def right(
    kernel: str,
    sizes: tuple[int, ...],
    width: int,
    *,
    dtype: torch.dtype = torch.float32,
    reverse: bool = False,
) -> Arguments:
    """Arguments that the kernel accepts, in the order of its schema."""
    found: Arguments = {}
    for name, shape in shapes_of(kernel, sum(sizes), sizes[0], width).items():
        found[name] = None if shape is None else torch.rand(shape, dtype=dtype) * 0.1
    if kernel == "layer_norm_lstm_forward":
        found["epsilon"] = 1e-5
    return {**found, "sizes": list(sizes), "reverse": reverse}


def takes_any_stride(kernel: str, name: str) -> bool:
    """A forward kernel copies the recurrent matrix anyway; the original GRU's does not."""
    return name == "recurrent" and kernel.endswith("_forward") and kernel != "reset_before_gru_forward"


def wrong_tensors(tensor: Tensor | None, *, any_stride: bool = False) -> Iterator[tuple[str, Any]]:
    """(what is wrong, a tensor in place of this one)."""
    if tensor is None:
        yield "given though there is no place for it", torch.rand(3, 5)
        return
    yield "missing", None
    for axis, size in enumerate(tensor.shape):
        for other in sorted({0, max(0, size - 1), size + 1, 2 * size + 7} - {size}):
            shape = list(tensor.shape)
            shape[axis] = other
            yield f"axis {axis} is {other}, not {size}", tensor.new_zeros(shape)
    if tensor.dim() == 2 and tensor.shape[0] != tensor.shape[1]:
        yield "turned", tensor.t().contiguous()
    yield "no axis", tensor.new_zeros(())
    yield "one axis more", tensor.unsqueeze(0)
    if tensor.dim() > 1:
        yield "flat", tensor.flatten()
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64):
        yield f"of type {dtype}", tensor.to(dtype)
    yield "without memory", torch.empty_like(tensor, device="meta")
    yield "sparse", tensor.to_sparse()
    yield "freed", _freed(tensor)
    yield "negated by a flag", torch._neg_view(tensor)
    yield "conjugated by a flag", tensor.to(torch.complex64).conj()
    yield "part of a graph", tensor.clone().requires_grad_()
    if not any_stride:
        yield "every second element", tensor.repeat_interleave(2, dim=-1)[..., ::2]
        yield "one value for all", tensor.new_zeros(()).expand(tensor.shape)
        if tensor.dim() == 2:
            yield "column after column", tensor.t().contiguous().t()


def _freed(tensor: Tensor) -> Tensor:
    copy = tensor.clone()
    copy.untyped_storage().resize_(tensor.element_size())
    return copy


def wrong_sizes(sizes: list[int]) -> Iterator[tuple[str, list[int]]]:
    yield "no steps", []
    yield "one step less", sizes[:-1]
    yield "one step more", [*sizes, 1]
    yield "more sequences", [size + 1 for size in sizes]
    yield "increasing", sizes[::-1]
    yield "increasing after the first step", [sizes[0], *sorted(sizes[1:])]
    yield "negative", [*sizes[:-1], sizes[-1] + 4, -4]
    yield "all negative", [-size for size in sizes]
    yield "the same rows, other sequences", [1] * sum(sizes)
    yield "huge", [2**62] * 4
    yield "beyond 32 bits", [2**31, *sizes[1:]]


def every_mistake(
    kernel: str, sizes: tuple[int, ...] = (3, 3, 1), width: int = 5
) -> Iterator[tuple[str, Arguments]]:
    """(what is wrong, arguments with exactly this mistake). Rows, sequences, gates and width all differ."""
    for name, value in right(kernel, sizes, width).items():
        if name in ("epsilon", "reverse"):
            continue
        mistakes = (
            wrong_sizes(list(sizes))
            if name == "sizes"
            else wrong_tensors(value, any_stride=takes_any_stride(kernel, name))
        )
        for what, other in mistakes:
            yield f"{name}: {what}", {**right(kernel, sizes, width), name: other}


def call(kernel: str, arguments: Arguments) -> None:
    getattr(torch.ops.seqlab, kernel)(*arguments.values())
