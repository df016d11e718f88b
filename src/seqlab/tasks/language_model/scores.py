"""The scores of a language model on a stream: one loss in four units, by token frequency and by context length, beside n-gram models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Int, Integer
from numpy.typing import NDArray

from seqlab.baselines.ngram import NGram
from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.items import grouped_mean_items
from seqlab.metrics.likelihood import bits_per_character, bits_per_token, nats_per_token, perplexity
from seqlab.metrics.score import Score
from seqlab.metrics.slices import ScoreSlices, assign_groups, parts_within_items, slice_scores
from seqlab.metrics.token_stream import TokenStream
from seqlab.tasks.text.documents import BY_LINE
from seqlab.tasks.text.token_counts import COUNT_EDGES, COUNT_NAMES
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.vocabulary import UNK

LONG_CONTEXT = 8
"""Windows from which on contexts of any length are one group."""
MAX_TOKENS = 1_000_000
"""Tokens of a split that are scored: a hundred megabytes would take hours."""


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


def baseline_nats(models: Mapping[str, NGram], tokens: Integer[np.ndarray, " scored"]) -> dict[str, float]:
    """Nats per token of simpler models, by name."""
    return {name: -float(model.log_probs(tokens[:MAX_TOKENS])[1:].mean()) for name, model in models.items()}


def score_stream(
    stream: TokenStream, *, baselines: Mapping[str, float], num_tokens: int, characters: int
) -> list[Score]:
    """Nats and bits per token, bits per character and perplexity.

    num_tokens: the length of the whole split. characters: those of the scored tokens.
    """
    count, items = len(stream.nats), stream.items()
    best_name, best_nats = min(baselines.items(), key=lambda entry: entry[1], default=("", None))
    units: dict[str, tuple[str, Callable[[float], float]]] = {
        "nats_per_token": ("mean -log P(next token)", lambda nats: nats_per_token(nats, count)),
        "bits_per_token": ("nats / log 2", lambda nats: bits_per_token(nats, count)),
        "bits_per_character": ("total bits / characters", lambda nats: bits_per_character(nats, characters)),
        "perplexity": ("exp(nats per token)", lambda nats: perplexity(nats, count)),
    }
    method = _describe(stream, num_tokens=num_tokens, characters=characters)
    if others := [f"{name} {nats:.4f}" for name, nats in baselines.items() if name != best_name]:
        method += f"; nats per token of simpler models: {', '.join(others)}"
    return [
        score_with_interval(
            name,
            items[name],
            baseline=None if best_nats is None else convert(best_nats * count),
            baseline_name=best_name,
            higher_is_better=False,
            method=f"{definition}; {method}",
        )
        for name, (definition, convert) in units.items()
    ]


def _describe(stream: TokenStream, *, num_tokens: int, characters: int) -> str:
    """How much text is scored, and how the intervals are computed."""
    count = len(stream.nats)
    part = "" if count + 1 == num_tokens else f" at the beginning of {num_tokens:,}"
    return (
        f"{count:,} tokens{part}, {characters:,} characters; 95 % bootstrap interval over blocks of"
        f" {stream.block_size} tokens"
    )
