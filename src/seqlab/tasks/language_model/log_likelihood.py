"""The log-likelihood of a stream under a language model, token by token."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.stored_column import StoredColumn
from seqlab.losses.full_softmax import target_log_probs
from seqlab.models.base import ModelState
from seqlab.models.language_model import LanguageModel

LANES = 16
"""Parts of a stream that are scored in parallel."""


@torch.inference_mode()
def stream_log_probs(
    model: nn.Module, tokens: StoredColumn, *, window: int, carries_state: bool, max_tokens: int
) -> Float[np.ndarray, " scored"]:
    """Return the log-probability (in nats) of every token but the first at the beginning of a stream.

    A stateful model carries its state from window to window. A stateless one sees at least half a window
    before each token.
    """
    assert isinstance(model, LanguageModel)
    num_scored = min(tokens.num_steps, max_tokens) - 1
    log_probs = np.empty(num_scored, np.float32)
    lanes = _cut(num_scored, LANES if num_scored > LANES * window else 1)
    stride = window if carries_state else max(1, window // 2)
    state: ModelState | None = None
    for place in range(0, max(stop - start for start, stop in lanes), stride):
        num_context = 0 if carries_state else min(place, window - stride)
        spans = [(min(start + place, stop), min(start + place + stride, stop)) for start, stop in lanes]
        length = num_context + max(end - start for start, end in spans)
        rows = np.stack(
            [_padded(tokens.window(start - num_context, end + 1), length + 1) for start, end in spans]
        )
        scored, state = _score(model, rows, state if carries_state else None)
        for row, (start, end) in enumerate(spans):
            log_probs[start:end] = scored[row, num_context : num_context + end - start]
    return log_probs


def context_lengths(
    inputs: NDArray[Any], *, window: int, carries_state: bool, start_id: int | None = None
) -> Int[np.ndarray, " scored"]:
    """Return how many tokens the model has read before each token that `stream_log_probs` scores.

    inputs: the token before each scored token. A stateful model resets its state at the token `start_id`,
    if there is one.

    >>> context_lengths(np.array([5, 6, 0, 7, 8, 9, 0]), window=4, carries_state=False).tolist()
    [1, 2, 3, 4, 3, 4, 3]
    >>> context_lengths(np.array([5, 6, 0, 7, 8, 9, 0]), window=4, carries_state=True, start_id=0).tolist()
    [1, 2, 1, 2, 3, 4, 1]
    """
    lanes = _cut(len(inputs), LANES if len(inputs) > LANES * window else 1)
    place = np.concatenate([np.arange(stop - start) for start, stop in lanes])
    if carries_state:
        step = np.arange(len(inputs))
        is_first = (place == 0) | (inputs == start_id) if start_id is not None else place == 0
        return step - np.maximum.accumulate(np.where(is_first, step, 0)) + 1
    stride = max(1, window // 2)
    return np.minimum(place // stride * stride, window - stride) + place % stride + 1


def _cut(length: int, parts: int) -> list[tuple[int, int]]:
    """Split a range into nearly equal parts."""
    edges = [length * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def _padded(tokens: NDArray[Any], length: int) -> NDArray[np.int64]:
    """Pad at the end, which does not affect the earlier scores of a causal model."""
    return np.pad(tokens.astype(np.int64), (0, length - len(tokens)))


def _score(
    model: LanguageModel, tokens: NDArray[np.int64], state: ModelState | None
) -> tuple[NDArray[np.float32], ModelState]:
    """Return the log-probability of each token but the first of every row."""
    rows = torch.from_numpy(tokens).to(next(model.parameters()).device)
    inputs, targets = rows[:, :-1], rows[:, 1:]
    features, state = model.features(
        inputs, torch.ones_like(inputs, dtype=torch.bool), state
    )  # (batch, time, output)
    log_probs = target_log_probs(features.flatten(0, 1), model.output_weight, model.bias, targets.flatten())
    return log_probs.view(features.shape[:2]).cpu().numpy(), state
