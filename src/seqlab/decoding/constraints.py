"""Constraints on the next token, which a search applies at every step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.core.errors import ArgumentError

LogProbs = Float[Tensor, "hypotheses vocab"]


@dataclass(frozen=True)
class SearchStep:
    """One step of a search: log-probabilities, the sentence of each hypothesis, and its tokens so far."""

    log_probs: LogProbs
    source_ids: Sequence[int]
    """The sentence number of each hypothesis."""
    get_tokens: Callable[[], list[list[int]]]
    length: int
    """Number of tokens in every hypothesis."""

    @cached_property
    def tokens(self) -> list[list[int]]:
        """The tokens of each hypothesis, built only on demand."""
        return self.get_tokens()


class Constraint(ABC):
    """Forbids tokens. The probabilities of the other tokens are not renormalized, so scores remain those
    of the network.
    """

    @abstractmethod
    def check_limit(self, max_tokens: int) -> None:
        """Reject a length limit with which the constraint cannot be satisfied."""

    @abstractmethod
    def apply(self, allowed: LogProbs, step: SearchStep) -> None:
        """Write -inf into `allowed`, a copy of the step's log-probabilities, at further tokens."""


class MinTokens(Constraint):
    """Minimum length: a target must not end before it has this many tokens."""

    def __init__(self, min_tokens: int, *, end_id: int) -> None:
        self.min_tokens = min_tokens
        self.end_id = end_id

    def check_limit(self, max_tokens: int) -> None:
        if self.min_tokens > max_tokens:
            raise ArgumentError(
                "min_tokens",
                self.min_tokens,
                f"the maximum target length is {max_tokens} tokens.",
                allowed=f"at most {max_tokens}",
            )

    def apply(self, allowed: LogProbs, step: SearchStep) -> None:
        if step.length < self.min_tokens:
            allowed[:, self.end_id] = -torch.inf


class NoRepeatNGram(Constraint):
    """Forbids repeated n-grams in a target.

    Paper: Paulus et al. 2018, "A Deep Reinforced Model for Abstractive Summarization", arXiv:1705.04304,
    section 2.5 (n = 3).
    """

    def __init__(self, n: int) -> None:
        assert n >= 1
        self.n = n

    def check_limit(self, max_tokens: int) -> None:
        """Every limit is valid."""

    def apply(self, allowed: LogProbs, step: SearchStep) -> None:
        banned = [
            (row, token)
            for row, tokens in enumerate(step.tokens)
            for token in banned_next_tokens(tokens, self.n)
        ]
        if banned:
            rows, tokens = torch.tensor(banned, device=allowed.device).T
            allowed[rows, tokens] = -torch.inf


class ForcedPrefix(Constraint):
    """Forces every target to begin with these tokens, or with a prefix for its sentence number. Other
    constraints do not apply to the prefix.

    The prefix is part of the target and counts in its length and its log-probability.
    """

    def __init__(
        self, tokens: Sequence[int] = (), per_source: Mapping[int, Sequence[int]] | None = None
    ) -> None:
        self.tokens = list(tokens)
        self.per_source = {source_id: list(prefix) for source_id, prefix in (per_source or {}).items()}

    def check_limit(self, max_tokens: int) -> None:
        max_prefix = max((len(prefix) for prefix in (self.tokens, *self.per_source.values())), default=0)
        if max_prefix > max_tokens:
            raise ArgumentError(
                "prefix",
                max_prefix,
                f"the prefix has {max_prefix} tokens, more than the limit of {max_tokens}.",
                cure=f"Shorten the prefix, or use max_tokens={max_prefix} or more.",
            )

    def apply(self, allowed: LogProbs, step: SearchStep) -> None:
        prefixes = [self.per_source.get(source_id, self.tokens) for source_id in step.source_ids]
        forced = [
            (row, prefix[step.length]) for row, prefix in enumerate(prefixes) if step.length < len(prefix)
        ]
        if not forced:
            return
        vocab = allowed.shape[1]
        if unknown := [token for _, token in forced if not 0 <= token < vocab]:
            raise ArgumentError(
                "prefix",
                unknown[0],
                f"the prefix contains token id {unknown[0]}, but the vocabulary has {vocab} tokens.",
                allowed=f"0 to {vocab - 1}",
            )
        rows, tokens = torch.tensor(forced, device=allowed.device).T
        allowed[rows] = -torch.inf
        allowed[rows, tokens] = step.log_probs[rows, tokens]


def banned_next_tokens(tokens: Sequence[int], n: int) -> set[int]:
    """The tokens that would complete an n-gram that already occurs.

    >>> banned_next_tokens([5, 6, 5], 2), banned_next_tokens([5, 6], 1), banned_next_tokens([5], 2)
    ({6}, {5, 6}, set())
    """
    last = list(tokens[len(tokens) - n + 1 :]) if n > 1 else []
    if len(last) < n - 1:
        return set()
    return {
        tokens[start + n - 1]
        for start in range(len(tokens) - n + 1)
        if list(tokens[start : start + n - 1]) == last
    }
