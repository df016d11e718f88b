"""Seeing where a network looks, without another network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jaxtyping import Float
from torch import Tensor, nn

Alignment = Float[Tensor, "batch heads target source"]


class RecordableAttention(nn.Module):
    """An attention that computes its alignment for whoever watches, and only then."""

    alignment_hook: Callable[[Alignment], None] | None = None


@contextmanager
def record_alignments(network: nn.Module) -> Iterator[dict[str, list[Alignment]]]:
    """Collect the alignments of every attention inside, by the name of its module: one entry for each time it
    is called.

    >>> from seqlab.attention.multi_head import MultiHeadSelfAttention
    >>> import torch
    >>> attention = MultiHeadSelfAttention(6, num_heads=2)
    >>> with record_alignments(attention) as alignments:
    ...     _ = attention(torch.randn(1, 5, 6))
    >>> alignments[""][0].shape
    torch.Size([1, 2, 5, 5])
    """
    found: dict[str, list[Alignment]] = {}
    watched = {
        name: module for name, module in network.named_modules() if isinstance(module, RecordableAttention)
    }
    before = {name: module.alignment_hook for name, module in watched.items()}
    for name, module in watched.items():
        module.alignment_hook = found.setdefault(name, []).append
    try:
        yield found
    finally:
        for name, module in watched.items():
            module.alignment_hook = before[name]
