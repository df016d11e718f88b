"""The critical path of a computation: the longest chain of dependent operations."""

from __future__ import annotations

from typing import Any

from torch import Tensor


def critical_path_length(output: Tensor) -> int:
    """The number of operations on the longest path from `output` back to a leaf in autograd's graph.
    Operations that are not on a common path can run in parallel.

    >>> import torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> critical_path_length(torch.tanh(x * 2).sum()), critical_path_length(x.exp() + torch.tanh(x.exp()))
    (3, 3)
    """
    depth: dict[Any, int] = {}
    stack: list[tuple[Any, bool]] = [(output.grad_fn, False)]
    while stack:  # not recursive: chains are longer than Python's stack
        node, is_ready = stack.pop()
        below = [child for child, _ in node.next_functions if child is not None and not _is_leaf(child)]
        if is_ready:
            depth[node] = 1 + max((depth[child] for child in below), default=0)
        elif node not in depth:
            stack.append((node, True))
            stack += [(child, False) for child in below if child not in depth]
    return depth[output.grad_fn]


def _is_leaf(node: Any) -> bool:
    return hasattr(node, "variable")
