"""How surprised a language model is by a stream, token by token."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.store import Store
from seqlab.models.base import State

LANES = 16
"""Parts of a stream that are scored side by side."""


@torch.inference_mode()
def log_probs_of(model: nn.Module, store: Store, *, window: int, carries_state: bool, at_most: int) -> NDArray[np.float32]:
    """The natural-log probability of every token but the first at the beginning of a stream.

    A model with a state reads on from window to window. One without sees each token after at least half a window.
    """
    num_scored = min(store.num_steps, at_most) - 1
    log_probs = np.empty(num_scored, np.float32)
    lanes = _cut(num_scored, LANES if num_scored > LANES * window else 1)
    stride = window if carries_state else max(1, window // 2)
    carry: State | None = None
    for place in range(0, max(stop - start for start, stop in lanes), stride):
        seen = 0 if carries_state else min(place, window - stride)
        spans = [(min(start + place, stop), min(start + place + stride, stop)) for start, stop in lanes]
        length = seen + max(end - start for start, end in spans)
        rows = np.stack([_padded(store.window(start - seen, end + 1), length + 1) for start, end in spans])
        scored, carry = _score(model, rows, carry if carries_state else None)
        for row, (start, end) in enumerate(spans):
            log_probs[start:end] = scored[row, seen : seen + end - start]
    return log_probs


def _cut(length: int, parts: int) -> list[tuple[int, int]]:
    """A range cut into nearly equal parts."""
    edges = [length * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def _padded(tokens: NDArray[Any], length: int) -> NDArray[np.int64]:
    """Filled up at the end: a causal model's scores before the filling do not change."""
    return np.pad(tokens.astype(np.int64), (0, length - len(tokens)))


def _score(model: nn.Module, tokens: NDArray[np.int64], carry: State | None) -> tuple[NDArray[np.float32], State]:
    """Log-probability of each token but the first of every row."""
    rows = torch.from_numpy(tokens).to(next(model.parameters()).device)
    logits, state = model(rows[:, :-1], torch.ones_like(rows[:, :-1], dtype=torch.bool), carry)
    picked = logits.float().log_softmax(dim=-1).gather(-1, rows[:, 1:, None]).squeeze(-1)  # (batch, time)
    return picked.cpu().numpy(), state
