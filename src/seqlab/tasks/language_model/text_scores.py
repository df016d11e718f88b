"""Scoring of single texts by a language model, side by side, each as if it stood alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.models.base import ModelState

MOST_LOGITS = 1 << 24
"""Numbers that the output layer may give at once: 64 megabytes."""


@torch.inference_mode()
def log_probs_of_texts(
    model: nn.Module,
    texts: Sequence[Sequence[int]],
    *,
    window: int,
    carries_state: bool,
    vocabulary_size: int,
) -> list[NDArray[np.float64]]:
    """The natural-log probability of every token but the first of each text, given all that stands before it
    in the same text.

    A model with a state reads a long text on from window to window. One without sees each token after at
    least half a window, or after all that stands before it: the same rule by which a whole split is scored.
    """
    at_once = max(1, MOST_LOGITS // (window * vocabulary_size))
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    found: list[NDArray[np.float64]] = [np.zeros(0)] * len(texts)
    for start in range(0, len(order), at_once):
        places = order[start : start + at_once]
        together = [torch.tensor(texts[place], dtype=torch.long) for place in places]
        for place, log_probs in zip(
            places, _score(model, together, window=window, carries_state=carries_state), strict=True
        ):
            found[place] = log_probs
    return found


def _score(
    model: nn.Module, texts: list[torch.Tensor], *, window: int, carries_state: bool
) -> list[NDArray[np.float64]]:
    tokens = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True).to(
        next(model.parameters()).device
    )  # (batch, time)
    parts: list[torch.Tensor] = []
    state: ModelState | None = None
    for seen, start, stop in _pieces(tokens.shape[1] - 1, window=window, carries_state=carries_state):
        first = start - seen
        inputs = tokens[:, first:stop]
        logits, after = model(
            inputs, torch.ones_like(inputs, dtype=torch.bool), state
        )  # what fills up a short row stands after all of it
        state = after if carries_state else None
        log_probs = logits[:, seen:].float().log_softmax(dim=-1)  # (batch, stop - start, vocab)
        parts.append(log_probs.gather(-1, tokens[:, start + 1 : stop + 1, None]).squeeze(-1))
    whole = torch.cat(parts, dim=1).double().cpu().numpy() if parts else np.zeros((len(texts), 0))
    return [row[: len(text) - 1] for row, text in zip(whole, texts, strict=True)]


def _pieces(length: int, *, window: int, carries_state: bool) -> Iterator[tuple[int, int, int]]:
    """How many inputs are read again, then the first and the end of those that are new.

    >>> list(_pieces(10, window=4, carries_state=True)), list(_pieces(7, window=4, carries_state=False))
    ([(0, 0, 4), (0, 4, 8), (0, 8, 10)], [(0, 0, 2), (2, 2, 4), (2, 4, 6), (2, 6, 7)])
    """
    stride = window if carries_state else max(1, window // 2)
    for start in range(0, length, stride):
        yield (0 if carries_state else min(start, window - stride)), start, min(start + stride, length)
