"""What a language model made of a text: its surprise laid beside the characters, and where it was surprised
most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqlab.batches.stored_column import StoredColumn
from seqlab.metrics.items import grouped_mean_items
from seqlab.metrics.slices import ScoreSlices, assign_groups, parts_within_items, slice_scores
from seqlab.metrics.token_stream import TokenStream
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.vocabulary import UNK

COUNTED = 1 << 22
"""Tokens that are counted at once."""
TIMES = (0, 9, 99, 999, 9_999)
TIMES_NAMES = {0: "never", 1: "1–9", 2: "10–99", 3: "100–999", 4: "1,000–9,999", 5: "10,000 or more"}


def stream_of(
    tokenizer: Tokenizer, targets: NDArray[np.integer], log_probs: NDArray[np.floating], *, characters: int
) -> TokenStream:
    """The tokens of a text with their characters.

    A special token counts one: the end of a line, or a letter that is not known.
    """
    ids, places = np.unique(targets, return_inverse=True)
    lengths = np.array([max(1, len(tokenizer.decode([int(token)]))) for token in ids])
    if tokenizer.kind in ("words", "whitespace"):
        lengths = lengths + 1  # the blank before it
    unknown = tokenizer.vocabulary.ids.get(UNK, -1)
    return TokenStream.from_log_probs(
        log_probs, lengths[places], characters=characters, num_unknown=int((targets == unknown).sum())
    )


def counts_of(tokens: StoredColumn, size: int) -> NDArray[np.int64]:
    """How often each id stands in a column."""
    counts = np.zeros(size, np.int64)
    for start in range(0, tokens.num_steps, COUNTED):
        counts += np.bincount(tokens.window(start, start + COUNTED), minlength=size)
    return counts


def slices_by_frequency(stream: TokenStream, times: NDArray[np.int64]) -> list[ScoreSlices]:
    """Surprise by how often training has the token; `times` is the number for each token of the stream."""
    return _slices("times that training has the token", stream, assign_groups(times, TIMES), TIMES_NAMES)


def slices_by_context(stream: TokenStream, before: NDArray[np.int64], *, window: int) -> list[ScoreSlices]:
    """Surprise by how much of the text the model had read before the token: quarters of a window, then more
    than it.
    """
    edges = sorted({max(1, window * quarter // 4) for quarter in (1, 2, 3, 4)} | {8 * window})
    starts = [1, *(edge + 1 for edge in edges)]
    names = {
        place: f"{start:,}–{edge:,}" for place, (start, edge) in enumerate(zip(starts, edges, strict=False))
    }
    return _slices(
        "tokens read before",
        stream,
        assign_groups(before, edges),
        {**names, len(edges): f"more than {edges[-1]:,}"},
    )


def _slices(
    by: str, stream: TokenStream, groups: NDArray[np.int64], names: dict[int, str]
) -> list[ScoreSlices]:
    parts = parts_within_items(
        lambda inside: grouped_mean_items(stream.nats[inside], stream.blocks[inside]), groups, names
    )
    return slice_scores(by, score="nats_per_token", unit="tokens", parts=parts)
