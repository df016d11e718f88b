"""The likelihood of a text under a language model, token by token.

    surprisal(w_t) = -log2 p(w_t | w_<t)      bits: 0 for what was certain, 1 for the flip of a coin, more for the unexpected

The surprisals of a text add up to its code length in bits; log 2 times that is its negative log-likelihood in
nats. Paper: Hale 2001, "A Probabilistic Earley Parser as a Psycholinguistic Model" (surprisal as the effort
of reading a word).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from seqlab.metrics.likelihood import (
    bits_per_character,
    bits_per_token,
    nats_per_token,
    perplexity,
    total_nats,
)


@dataclass(frozen=True)
class Surprisal:
    """One token of a text and its log-probability given the tokens before it."""

    token: str
    log_prob: float

    @property
    def probability(self) -> float:
        return math.exp(self.log_prob)

    @property
    def bits(self) -> float:
        return -self.log_prob / math.log(2) + 0.0  # + 0.0 turns -0.0 into 0.0


@dataclass(frozen=True)
class TextScore:
    """A text with the surprisal of each of its tokens.

    >>> score = TextScore("ab", [Surprisal("a", math.log(0.5)), Surprisal("b", math.log(0.125))], num_characters=2)
    >>> round(score.bits, 6), round(score.bits_per_token, 6), round(score.perplexity, 6)
    (4.0, 2.0, 4.0)
    """

    text: str
    tokens: Sequence[Surprisal]
    num_characters: int
    """Number of characters of the text, plus one if its end was predicted, too."""
    num_unknown: int = 0
    """Number of out-of-vocabulary tokens: one <unk> represents all of them, so their real probability is
    lower.
    """
    source: str | None = None
    """The context or source that the text is conditioned on, if any."""

    @cached_property
    def nats(self) -> float:
        return total_nats(np.array([token.log_prob for token in self.tokens]))

    @property
    def log_prob(self) -> float:
        return -self.nats

    @property
    def bits(self) -> float:
        return self.nats / math.log(2)

    @property
    def nats_per_token(self) -> float:
        """Like every mean over the tokens, NaN for a text without tokens."""
        return nats_per_token(self.nats, len(self.tokens)) if self.tokens else math.nan

    @property
    def bits_per_token(self) -> float:
        return bits_per_token(self.nats, len(self.tokens)) if self.tokens else math.nan

    @property
    def bits_per_character(self) -> float:
        return bits_per_character(self.nats, self.num_characters) if self.num_characters else math.nan

    @property
    def perplexity(self) -> float:
        return perplexity(self.nats, len(self.tokens)) if self.tokens else math.nan

    def as_json(self) -> dict[str, Any]:
        read = {} if self.source is None else {"source": self.source}
        names = ("log_prob", "nats", "bits_per_token", "bits_per_character", "perplexity", "num_unknown")
        tokens = [
            {
                "token": token.token,
                "log_prob": token.log_prob,
                "probability": token.probability,
                "bits": token.bits,
            }
            for token in self.tokens
        ]
        return {**read, "text": self.text, **{name: getattr(self, name) for name in names}, "tokens": tokens}


def likelihood_ranks(scores: Sequence[TextScore]) -> list[int]:
    """The rank of each text, most likely first; ties keep their order, and texts without tokens come last.

    >>> likelihood_ranks([TextScore("x", [Surprisal("x", -3.0)], 1), TextScore("y", [Surprisal("y", -1.0)], 1)])
    [2, 1]
    """
    order = sorted(
        range(len(scores)), key=lambda index: scores[index].perplexity if scores[index].tokens else math.inf
    )
    ranks = [0] * len(scores)
    for rank, index in enumerate(order, start=1):
        ranks[index] = rank
    return ranks
