"""What may not follow: rules that a search asks at every step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.core.errors import UsageError

LogProbs = Float[Tensor, "hypotheses vocab"]


@dataclass(frozen=True)
class SearchStep:
    """One step of a search: what the network thinks, of which sentence each hypothesis is, and what it has so
    far.
    """

    log_probs: LogProbs
    source_ids: Sequence[int]
    """Of each hypothesis, the number of its sentence."""
    get_tokens: Callable[[], list[list[int]]]
    length: int
    """Tokens that every hypothesis has."""

    @cached_property
    def tokens(self) -> list[list[int]]:
        """The tokens of each hypothesis; put together only for those who ask."""
        return self.get_tokens()


class Constraint(ABC):
    """Takes probability away from what may not follow; what is left is not made larger, so scores stay the
    network's own.
    """

    @abstractmethod
    def check_limit(self, max_tokens: int) -> None:
        """Refuse a limit with which the constraint cannot be kept."""

    @abstractmethod
    def apply(self, allowed: LogProbs, step: SearchStep) -> None:
        """Write -inf into `allowed`, a copy of the step's log-probabilities, at further tokens."""


class MinTokens(Constraint):
    """A target has at least so many tokens: before that it may not end."""

    def __init__(self, min_tokens: int, *, end_id: int) -> None:
        self.min_tokens = min_tokens
        self.end_id = end_id

    def check_limit(self, max_tokens: int) -> None:
        if self.min_tokens > max_tokens:
            raise UsageError(
                f"a target of at least {self.min_tokens} and at most {max_tokens} tokens cannot be.",
                where="decoding.min_tokens",
                cure="Let the smallest length be at most the largest one.",
            )

    def apply(self, allowed: LogProbs, step: SearchStep) -> None:
        if step.length < self.min_tokens:
            allowed[:, self.end_id] = -torch.inf


class NoRepeatNGram(Constraint):
    """No n tokens in a row come twice in a target.

    Paper: Paulus et al. 2018, "A Deep Reinforced Model for Abstractive Summarization", arXiv:1705.04304,
    section 2.5 (n = 3).
    """

    def __init__(self, n: int) -> None:
        assert n >= 1
        self.n = n

    def check_limit(self, max_tokens: int) -> None:
        """Any limit will do."""

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
    """Every target begins with these tokens, or with its own, by the number of its sentence. No other
    constraint is asked about them.

    The tokens of the prefix count: they are part of the target, of its length and of its log-probability.
    """

    def __init__(
        self, tokens: Sequence[int] = (), per_source: Mapping[int, Sequence[int]] | None = None
    ) -> None:
        self.tokens = list(tokens)
        self.per_source = {source_id: list(prefix) for source_id, prefix in (per_source or {}).items()}

    def check_limit(self, max_tokens: int) -> None:
        max_prefix = max((len(prefix) for prefix in (self.tokens, *self.per_source.values())), default=0)
        if max_prefix > max_tokens:
            raise UsageError(
                f"a prefix of {max_prefix} tokens is longer than the limit of {max_tokens}.",
                where="decoding.prefix",
                cure="Shorten the prefix, or raise decoding.max_tokens.",
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
            raise UsageError(
                f"the prefix has the token {unknown[0]}, but there are {vocab} tokens.",
                where="decoding.prefix",
                cure="Count from 0.",
            )
        rows, tokens = torch.tensor(forced, device=allowed.device).T
        allowed[rows] = -torch.inf
        allowed[rows, tokens] = step.log_probs[rows, tokens]


def banned_next_tokens(tokens: Sequence[int], n: int) -> set[int]:
    """The tokens that, coming next, would complete n tokens that were there before.

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
