"""How surprised a language model is by a stream, token by token."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seqlab.batches.stored_column import StoredColumn
from seqlab.losses.full_softmax import target_log_probs
from seqlab.models.base import ModelState
from seqlab.models.language_model import LanguageModel

LANES = 16
"""Parts of a stream that are scored side by side."""


@torch.inference_mode()
def log_probs_of(
    model: LanguageModel, tokens: StoredColumn, *, window: int, carries_state: bool, at_most: int
) -> NDArray[np.float32]:
    """The natural-log probability of every token but the first at the beginning of a stream.

    A model with a state reads on from window to window. One without sees each token after at least half a
    window.
    """
    num_scored = min(tokens.num_steps, at_most) - 1
    log_probs = np.empty(num_scored, np.float32)
    lanes = _cut(num_scored, LANES if num_scored > LANES * window else 1)
    stride = window if carries_state else max(1, window // 2)
    carry: ModelState | None = None
    for place in range(0, max(stop - start for start, stop in lanes), stride):
        seen = 0 if carries_state else min(place, window - stride)
        spans = [(min(start + place, stop), min(start + place + stride, stop)) for start, stop in lanes]
        length = seen + max(end - start for start, end in spans)
        rows = np.stack([_padded(tokens.window(start - seen, end + 1), length + 1) for start, end in spans])
        scored, carry = _score(model, rows, carry if carries_state else None)
        for row, (start, end) in enumerate(spans):
            log_probs[start:end] = scored[row, seen : seen + end - start]
    return log_probs


def tokens_before(
    read: NDArray[Any], *, window: int, carries_state: bool, start_id: int | None = None
) -> NDArray[np.int64]:
    """How many tokens the model had read when it foresaw each of those that `log_probs_of` scores.

    read: the tokens before each of these. A model that carries its state forgets it at the token `start_id`,
    where there is one.

    >>> tokens_before(np.array([5, 6, 0, 7, 8, 9, 0]), window=4, carries_state=False).tolist()
    [1, 2, 3, 4, 3, 4, 3]
    >>> tokens_before(np.array([5, 6, 0, 7, 8, 9, 0]), window=4, carries_state=True, start_id=0).tolist()
    [1, 2, 1, 2, 3, 4, 1]
    """
    lanes = _cut(len(read), LANES if len(read) > LANES * window else 1)
    place = np.concatenate([np.arange(stop - start) for start, stop in lanes])
    if carries_state:
        step = np.arange(len(read))
        is_first = (place == 0) | (read == start_id) if start_id is not None else place == 0
        return step - np.maximum.accumulate(np.where(is_first, step, 0)) + 1
    stride = max(1, window // 2)
    return np.minimum(place // stride * stride, window - stride) + place % stride + 1


def _cut(length: int, parts: int) -> list[tuple[int, int]]:
    """A range cut into nearly equal parts."""
    edges = [length * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def _padded(tokens: NDArray[Any], length: int) -> NDArray[np.int64]:
    """Filled up at the end: a causal model's scores before the filling do not change."""
    return np.pad(tokens.astype(np.int64), (0, length - len(tokens)))


def _score(
    model: LanguageModel, tokens: NDArray[np.int64], carry: ModelState | None
) -> tuple[NDArray[np.float32], ModelState]:
    """Log-probability of each token but the first of every row."""
    rows = torch.from_numpy(tokens).to(next(model.parameters()).device)
    features, state = model.features(
        rows[:, :-1], torch.ones_like(rows[:, :-1], dtype=torch.bool), carry
    )  # (batch, time, output)
    picked = target_log_probs(features.flatten(0, 1), model.output_weight, model.bias, rows[:, 1:].flatten())
    return picked.view(features.shape[:2]).cpu().numpy(), state
