"""What all searches share: the symbols, the limit, what is forbidden, and the batch of sources that they
take.
"""

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
    """The tokens that mean something to a search."""

    start_id: int
    end_id: int
    suppressed_ids: tuple[int, ...] = ()
    """Padding and the like, which are never chosen."""

    def without_suppressing(self, token: int) -> SpecialTokens:
        """The same, with one token more to choose from."""
        return replace(self, suppressed_ids=tuple(other for other in self.suppressed_ids if other != token))


@dataclass(frozen=True)
class SourceBatch:
    """Sources side by side, and the number of each among all that are decoded, by which draws and prefixes
    know it.
    """

    tokens: Shaped[Tensor, "batch source *features"]
    is_token: Bool[Tensor, "batch source"]
    source_ids: Sequence[int]

    @classmethod
    def from_tokens(
        cls, tokens: Shaped[Tensor, "batch source *features"], is_token: Bool[Tensor, "batch source"]
    ) -> SourceBatch:
        """The first ones."""
        return cls(tokens, is_token, range(len(tokens)))


class Search(ABC):
    """From sources to targets of at most `max_tokens` tokens.

    A target is complete when it has ended, when it has `max_tokens` tokens, or when everything that could
    follow is forbidden. The end token takes a step as any other: after `max_tokens` tokens it is no longer
    asked for.
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
        """For each source its targets, the best first."""

    def allowed_log_probs(self, step: SearchStep) -> Float[Tensor, "hypotheses vocab"]:
        """The log-probabilities of what may follow, -inf of what may not."""
        if not self.special_tokens.suppressed_ids and not self.constraints:
            return step.log_probs
        allowed = step.log_probs.index_fill(1, self._suppressed.to(step.log_probs.device), -torch.inf)
        for constraint in self.constraints:
            constraint.apply(allowed, step)
        return allowed


def full_mask(tokens: Int[Tensor, "hypotheses 1"]) -> Bool[Tensor, "hypotheses 1"]:
    """Every token that a search feeds is a real one."""
    return torch.ones_like(tokens, dtype=torch.bool)


def to_log_probs(logits: Float[Tensor, "*rows vocab"]) -> Float[Tensor, "*rows vocab"]:
    """log P, in float32 at least."""
    return (logits if logits.dtype == torch.float64 else logits.float()).log_softmax(dim=-1)
