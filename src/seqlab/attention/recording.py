"""Record the attention weights of a network without changing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor, nn

Alignment = Float[Tensor, "batch heads target source"]
AlignmentHook = Callable[[Alignment], None]

_hooks: ContextVar[Mapping[nn.Module, AlignmentHook]] = ContextVar(
    "alignment hooks",
    default=MappingProxyType({}),
)
"""The hook of each module that is being recorded. It is not an attribute of the module, because several threads
may use one network, and each records only its own calls.
"""


class RecordableAttention(nn.Module):
    """An attention that computes its alignment only while it is recorded."""

    @property
    def alignment_hook(self) -> AlignmentHook | None:
        """Receives the alignment of the current call, if it is recorded."""
        return None if torch.compiler.is_compiling() else _hooks.get().get(self)


def is_recording_alignments() -> bool:
    """Whether the current thread records the alignments of any network."""
    return bool(_hooks.get())


@contextmanager
def record_alignments(network: nn.Module) -> Iterator[dict[str, list[Alignment]]]:
    """Collect the alignments of every attention inside a module, by submodule name: one entry for each call
    in the current thread.

    >>> from seqlab.attention.multi_head import MultiHeadSelfAttention
    >>> import torch
    >>> attention = MultiHeadSelfAttention(6, num_heads=2)
    >>> with record_alignments(attention) as alignments:
    ...     _ = attention(torch.randn(1, 5, 6))
    >>> alignments[""][0].shape
    torch.Size([1, 2, 5, 5])
    """
    alignments: dict[str, list[Alignment]] = {}
    hooks: dict[nn.Module, AlignmentHook] = {
        module: alignments.setdefault(name, []).append
        for name, module in network.named_modules()
        if isinstance(module, RecordableAttention)
    }
    token = _hooks.set({**_hooks.get(), **hooks})
    try:
        yield alignments
    finally:
        _hooks.reset(token)
