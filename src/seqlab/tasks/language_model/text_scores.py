"""The log-likelihood of individual texts under a language model, in batches but independent of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.models.base import ModelState

MAX_LOGITS = 1 << 24
"""Maximum number of logits computed at once: 64 megabytes."""


@torch.inference_mode()
def text_log_probs(
    model: nn.Module,
    texts: Sequence[Sequence[int]],
    *,
    window: int,
    carries_state: bool,
    vocabulary_size: int,
) -> list[NDArray[np.float64]]:
    """Return the log-probability (in nats) of every token but the first of each text, given those before it.

    A stateful model reads a long text window by window. A stateless one sees at least half a window before
    each token, or all tokens before it, as when a whole split is scored.
    """
    batch_size = max(1, MAX_LOGITS // (window * vocabulary_size))
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    log_probs: list[NDArray[np.float64]] = [np.zeros(0)] * len(texts)
    for start in range(0, len(order), batch_size):
        indices = order[start : start + batch_size]
        batch = [torch.tensor(texts[index], dtype=torch.long) for index in indices]
        scored = _score(model, batch, window=window, carries_state=carries_state)
        for index, text_scores in zip(indices, scored, strict=True):
            log_probs[index] = text_scores
    return log_probs


def _score(
    model: nn.Module, texts: list[torch.Tensor], *, window: int, carries_state: bool
) -> list[NDArray[np.float64]]:
    tokens = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True).to(
        next(model.parameters()).device
    )  # (batch, time)
    parts: list[torch.Tensor] = []
    state: ModelState | None = None
    for num_context, start, stop in _pieces(tokens.shape[1] - 1, window=window, carries_state=carries_state):
        inputs = tokens[:, start - num_context : stop]
        logits, next_state = model(
            inputs, torch.ones_like(inputs, dtype=torch.bool), state
        )  # padding comes after the last token of a row, where a causal model does not see it
        state = next_state if carries_state else None
        log_probs = logits[:, num_context:].float().log_softmax(dim=-1)  # (batch, stop - start, vocab)
        parts.append(log_probs.gather(-1, tokens[:, start + 1 : stop + 1, None]).squeeze(-1))
    rows = torch.cat(parts, dim=1).double().cpu().numpy() if parts else np.zeros((len(texts), 0))
    return [row[: len(text) - 1] for row, text in zip(rows, texts, strict=True)]


def _pieces(length: int, *, window: int, carries_state: bool) -> Iterator[tuple[int, int, int]]:
    """Yield the number of inputs to read again, then the start and end of the new ones.

    >>> list(_pieces(10, window=4, carries_state=True)), list(_pieces(7, window=4, carries_state=False))
    ([(0, 0, 4), (0, 4, 8), (0, 8, 10)], [(0, 0, 2), (2, 2, 4), (2, 4, 6), (2, 6, 7)])
    """
    stride = window if carries_state else max(1, window // 2)
    for start in range(0, length, stride):
        yield (0 if carries_state else min(start, window - stride)), start, min(start + stride, length)
