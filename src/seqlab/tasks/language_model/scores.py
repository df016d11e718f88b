"""The scores of a language model on a stream: one loss in four units, beside n-gram models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Integer

from seqlab.baselines.simple_language_models import simple_language_models
from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.likelihood import bits_per_character, bits_per_token, nats_per_token, perplexity
from seqlab.metrics.score import Score
from seqlab.metrics.token_stream import TokenStream

MAX_TOKENS = 1_000_000
"""Tokens of a split that are scored: a hundred megabytes would take hours."""


def baseline_nats(
    train: Integer[np.ndarray, " train"], tokens: Integer[np.ndarray, " scored"], vocabulary_size: int
) -> dict[str, float]:
    """Nats per token of simpler models that are fitted on the training stream, by name."""
    models = simple_language_models(train, vocabulary_size)
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
