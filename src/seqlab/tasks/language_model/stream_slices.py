"""A scored text with its characters, and its loss by token frequency and by context length."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int
from numpy.typing import NDArray

from seqlab.metrics.items import grouped_mean_items
from seqlab.metrics.slices import ScoreSlices, assign_groups, parts_within_items, slice_scores
from seqlab.metrics.token_stream import TokenStream
from seqlab.tasks.text.documents import BY_LINE
from seqlab.tasks.text.token_counts import COUNT_EDGES, COUNT_NAMES
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.vocabulary import UNK

LONG_CONTEXT = 8
"""Windows from which on contexts of any length are one group."""


def make_token_stream(
    tokenizer: Tokenizer, targets: NDArray[np.integer], log_probs: NDArray[np.floating], *, characters: int
) -> TokenStream:
    """The tokens of a text with their characters.

    A special token, such as the end of a line or an unknown character, counts one character.
    """
    ids, indices = np.unique(targets, return_inverse=True)
    lengths = np.array([max(1, len(tokenizer.decode([int(token)]))) for token in ids])
    predicts_whitespace = tokenizer.kind not in BY_LINE
    if not predicts_whitespace:
        lengths = lengths + 1  # the space before it
    unknown = tokenizer.vocabulary.ids.get(UNK, -1)
    return TokenStream.from_log_probs(
        log_probs,
        lengths[indices],
        characters=characters,
        num_unknown=int((targets == unknown).sum()),
        predicts_whitespace=predicts_whitespace,
    )


def slices_by_frequency(stream: TokenStream, counts: Int[np.ndarray, " tokens"]) -> list[ScoreSlices]:
    """The loss by how often training has the token; `counts` has a number for each token of the stream."""
    return _slices(
        "times that training has the token", stream, assign_groups(counts, COUNT_EDGES), COUNT_NAMES
    )


def slices_by_context(
    stream: TokenStream, context_lengths: Int[np.ndarray, " tokens"], *, window: int
) -> list[ScoreSlices]:
    """The loss by how many tokens the model had read before: quarters of a window, then more than a window."""
    edges = sorted({max(1, window * quarter // 4) for quarter in (1, 2, 3, 4)} | {LONG_CONTEXT * window})
    starts = [1, *(edge + 1 for edge in edges)]
    names = {
        group: f"{start:,}–{edge:,}" for group, (start, edge) in enumerate(zip(starts, edges, strict=False))
    }
    return _slices(
        "tokens read before",
        stream,
        assign_groups(context_lengths, edges),
        {**names, len(edges): f"more than {edges[-1]:,}"},
    )


def _slices(
    by: str, stream: TokenStream, groups: NDArray[np.int64], names: dict[int, str]
) -> list[ScoreSlices]:
    parts = parts_within_items(
        lambda inside: grouped_mean_items(stream.nats[inside], stream.blocks[inside]), groups, names
    )
    return slice_scores(by, score="nats_per_token", unit="tokens", parts=parts)
