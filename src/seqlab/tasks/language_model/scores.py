"""The scores of a language model on a stream: one loss in four units, by token frequency and by context
length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int, Integer
from numpy.typing import NDArray

from seqlab.baselines.ngram import NGram
from seqlab.metrics.items import grouped_mean_items
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.metrics.slices import ScoreSlices, assign_groups, parts_within_items, slice_scores
from seqlab.metrics.token_stream import TokenStream
from seqlab.tasks.text.documents import BY_LINE
from seqlab.tasks.text.token_counts import COUNT_EDGES, COUNT_NAMES
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.vocabulary import UNK

LONG_CONTEXT = 8
"""Contexts longer than this many windows are one group."""
MAX_TOKENS = 1_000_000
"""Maximum number of tokens of a split that are scored; a hundred megabytes would take hours."""


def make_token_stream(
    tokenizer: Tokenizer, targets: NDArray[np.integer], log_probs: NDArray[np.floating], *, characters: int
) -> TokenStream:
    """Combine the tokens of a text with their lengths in characters.

    A special token, such as a line break or an unknown character, counts as one character.
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
    """Return the loss by training frequency of the token; `counts` has the count of each token of the
    stream.
    """
    return _slices(
        "occurrences of the token in training", stream, assign_groups(counts, COUNT_EDGES), COUNT_NAMES
    )


def slices_by_context(
    stream: TokenStream, context_lengths: Int[np.ndarray, " tokens"], *, window: int
) -> list[ScoreSlices]:
    """Return the loss by context length: quarters of a window, then more than a window."""
    edges = sorted({max(1, window * quarter // 4) for quarter in (1, 2, 3, 4)} | {LONG_CONTEXT * window})
    starts = [1, *(edge + 1 for edge in edges)]
    names = {
        group: f"{start:,}–{edge:,}" for group, (start, edge) in enumerate(zip(starts, edges, strict=False))
    }
    return _slices(
        "context length in tokens",
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


def baseline_nats(
    models: Mapping[str, NGram], tokens: Integer[np.ndarray, " read"]
) -> dict[str, Float[np.ndarray, " scored"]]:
    """Return the loss in nats of each baseline on every token but the first, by name."""
    return {name: -model.log_probs(tokens)[1:].astype(np.float64) for name, model in models.items()}


def score_stream(
    stream: TokenStream,
    *,
    baselines: Mapping[str, Float[np.ndarray, " scored"]],
    num_tokens: int,
    characters: int,
) -> list[Score]:
    """Return nats and bits per token, bits per character and perplexity, compared with the best baseline.

    baselines: their loss in nats on every token of the stream. num_tokens: the length of the whole split.
    characters: the number of characters of the scored tokens.
    """
    items, means = stream.items(), {name: float(nats.mean()) for name, nats in baselines.items()}
    best = min(means, key=lambda name: means[name], default="")
    baseline_items = replace(stream, nats=baselines[best]).items() if best else {}
    units = {
        "nats_per_token": "mean -log P(next token)",
        "bits_per_token": "nats / log 2",
        "bits_per_character": "total bits / characters",
        "perplexity": "exp(nats per token)",
    }
    method = _describe(stream, num_tokens=num_tokens, characters=characters)
    if others := [f"{name} {nats:.4f}" for name, nats in means.items() if name != best]:
        method += f"; nats per token of other baselines: {', '.join(others)}"
    return [
        score_with_interval(
            name,
            items[name],
            baseline=baseline_items.get(name),
            baseline_name=best,
            higher_is_better=False,
            method=f"{definition}; {method}",
            unit="blocks of tokens",
        )
        for name, definition in units.items()
    ]


def _describe(stream: TokenStream, *, num_tokens: int, characters: int) -> str:
    """Describe how much text is scored, and how the intervals are computed."""
    count = len(stream.nats)
    part = "" if count + 1 == num_tokens else f" at the beginning of {num_tokens:,}"
    return (
        f"{count:,} tokens{part}, {characters:,} characters; 95% CI by bootstrap over blocks of"
        f" {stream.block_size} tokens"
    )
