"""The base of all searches: special tokens, length limit, constraints, and batches of sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from seqlab.decoding.constraints import Constraint, SearchStep
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.protocol import Seq2SeqModel


@dataclass(frozen=True)
class SpecialTokens:
    """The special tokens of a search."""

    start_id: int
    end_id: int
    suppressed_ids: tuple[int, ...] = ()
    """Tokens that are never chosen, such as padding."""

    def without_suppressing(self, token: int) -> SpecialTokens:
        """The same special tokens, except that this one may be generated."""
        return replace(self, suppressed_ids=tuple(other for other in self.suppressed_ids if other != token))


@dataclass(frozen=True)
class SourceBatch:
    """A batch of sources with their numbers, which identify their random numbers and prefixes."""

    tokens: Shaped[Tensor, "batch source *features"]
    is_token: Bool[Tensor, "batch source"]
    source_ids: Sequence[int]

    @classmethod
    def from_tokens(
        cls, tokens: Shaped[Tensor, "batch source *features"], is_token: Bool[Tensor, "batch source"]
    ) -> SourceBatch:
        """The first sources of the batch."""
        return cls(tokens, is_token, range(len(tokens)))


class Search(ABC):
    """Decodes sources into targets of at most `max_tokens` tokens.

    A target is complete when it has ended, when it has `max_tokens` tokens, or when no token is allowed to
    follow. The end token takes a step like any other: after `max_tokens` tokens it is not predicted anymore.
    """

    def __init__(
        self, special_tokens: SpecialTokens, *, max_tokens: int, constraints: Sequence[Constraint] = ()
    ) -> None:
        self.special_tokens = special_tokens
        self.max_tokens = max_tokens
        self.constraints = tuple(constraints)
        self._suppressed = torch.tensor(special_tokens.suppressed_ids, dtype=torch.long)
        for constraint in self.constraints:
            constraint.check_limit(max_tokens)

    @abstractmethod
    def run(self, model: Seq2SeqModel, sources: SourceBatch) -> list[list[Hypothesis]]:
        """The targets of each source, best first."""

    def allowed_log_probs(self, step: SearchStep) -> Float[Tensor, "hypotheses vocab"]:
        """The log-probabilities of the allowed tokens, -inf for all others."""
        if not self.special_tokens.suppressed_ids and not self.constraints:
            return step.log_probs
        allowed = step.log_probs.index_fill(1, self._suppressed.to(step.log_probs.device), -torch.inf)
        for constraint in self.constraints:
            constraint.apply(allowed, step)
        return allowed


def full_mask(tokens: Int[Tensor, "hypotheses 1"]) -> Bool[Tensor, "hypotheses 1"]:
    """The mask of the decoder's inputs: every token in a search is real."""
    return torch.ones_like(tokens, dtype=torch.bool)


def to_log_probs(logits: Float[Tensor, "*rows vocab"]) -> Float[Tensor, "*rows vocab"]:
    """log P, in float32 at least."""
    return (logits if logits.dtype == torch.float64 else logits.float()).log_softmax(dim=-1)
