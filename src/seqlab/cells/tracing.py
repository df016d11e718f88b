"""Whether torch records or transforms the current call, which then may only use torch's own operations."""

from __future__ import annotations

import torch
from torch.autograd import forward_ad

from seqlab.core.errors import UsageError


def is_tracing() -> bool:
    """Whether torch.jit.trace is active; shapes are tensors there, not integers."""
    return torch._C._get_tracing_state() is not None  # noqa: SLF001 - what torch.jit.is_tracing asks


def is_captured() -> bool:
    """Whether torch records this call to replay it with other inputs: compile, export, jit.trace, make_fx or
    any other dispatch mode.

    A kernel or a hand-written function would be recorded with the lengths of this one call. ONNX export is
    included: it traces or exports.
    """
    return torch.compiler.is_compiling() or is_tracing() or torch._C._len_torch_dispatch_stack() > 0  # noqa: SLF001 - no public name


def is_transformed() -> bool:
    """Whether torch.func (vmap, grad, jvp, …), forward-mode differentiation or a vectorized Jacobian is
    active; all need to see every single operation.
    """
    return (
        torch._C._are_functorch_transforms_active()  # noqa: SLF001 - none of these has a public name
        or forward_ad._current_level >= 0  # noqa: SLF001
        or _gradients_are_batched()
    )


def _gradients_are_batched() -> bool:
    """Whether autograd.grad(is_grads_batched=True) is active, which uses a vmap of its own."""
    if (
        torch.compiler.is_compiling()
    ):  # dynamo would run the first of the two calls and leave the level raised
        return False
    level = torch._C._vmapmode_increment_nesting()  # noqa: SLF001 - the only way to ask for the level
    torch._C._vmapmode_decrement_nesting()  # noqa: SLF001
    return level > 1


def reject_jit_trace() -> None:
    """Called where lengths become Python integers: a trace would keep the lengths of its example input and be
    silently wrong for all others.
    """
    if is_tracing():
        raise UsageError(
            "torch.jit.trace would fix the sequence lengths of the example input; the trace would be wrong"
            " for any other lengths.",
            cure=(
                "Trace with a padded tensor instead of a PackedSequence (the number of steps is then fixed,"
                " and any other raises an error), or use LSTM, GRU or RNN with torch's own cell, whose traces"
                " accept any lengths."
            ),
        )
