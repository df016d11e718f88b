"""How a beam treats complete hypotheses: whether they keep a place in it, and when the search is finished.

With k hypotheses in a beam, a step ranks all continuations of the open ones by log_prob.

    OpenBeam      the k best continuations that do not end stay open; one that ends is complete if it is among the k
                  best of all. The beam always has k open hypotheses, as in fairseq and transformers. It is finished
                  when k hypotheses are complete and no open one, at its present length, beats the worst of them.
    ThoroughBeam  the same, but finished only when no continuation can beat the n_best complete hypotheses:
                  `early_stopping="never"` of transformers.
    SharedBeam    of the k best continuations those that end are complete and the others stay open: complete hypotheses
                  take places, so fewer stay open. It is finished when none is open, or as ThoroughBeam is.

A continuation cannot beat them if rule.bound(highest open log_prob) ≤ their worst score, so ThoroughBeam finds the
highest scores. With a length penalty it continues to max_tokens for almost every source; OpenBeam may miss a longer
hypothesis whose mean gets better, and computes a quarter to three quarters of the rows (docs/guides/decode.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.length_normalization import LengthPenalty


@dataclass(frozen=True)
class BeamStatus:
    """One beam after a step: its complete hypotheses, best first, and the best of its open ones."""

    complete: Sequence[Hypothesis]
    best_open: float
    """A log_prob."""
    length: int
    max_length: int
    length_penalty: LengthPenalty

    def cannot_improve(self, n_best: int) -> bool:
        """Whether the n best complete hypotheses are final, whatever the open ones become."""
        bound = self.length_penalty.bound(self.best_open, length=self.length, max_length=self.max_length)
        return len(self.complete) >= n_best and bound <= self.complete[n_best - 1].score


class BeamPolicy(ABC):
    """How a beam of `width` hypotheses treats those that end."""

    @abstractmethod
    def num_candidates(self, width: int) -> int:
        """How many of the best continuations have to be considered."""

    @abstractmethod
    def is_taken(
        self, tokens: Int[Tensor, "beams candidates"], *, end_id: int, width: int
    ) -> Bool[Tensor, "beams candidates"]:
        """Which continuations stay open or are complete, given the token of each, best first."""

    @abstractmethod
    def num_complete(self, *, width: int, n_best: int) -> int:
        """How many complete hypotheses are kept."""

    @abstractmethod
    def is_finished(self, status: BeamStatus, *, width: int, n_best: int) -> bool:
        """Whether a beam that has open hypotheses may stop."""


class _ConstantWidth(BeamPolicy):
    """Hypotheses that end leave the beam, and its width stays."""

    def num_candidates(self, width: int) -> int:
        return 2 * width  # every one of the open hypotheses has one continuation that ends

    def is_taken(
        self, tokens: Int[Tensor, "beams candidates"], *, end_id: int, width: int
    ) -> Bool[Tensor, "beams candidates"]:
        ends = tokens == end_id
        is_among_best = torch.arange(tokens.shape[1], device=tokens.device) < width
        is_open = (~ends).cumsum(dim=1) <= width
        return torch.where(ends, is_among_best, is_open)

    def num_complete(self, *, width: int, n_best: int) -> int:
        return width


class OpenBeam(_ConstantWidth):
    """A constant number of open hypotheses; stops once as many are complete and better at their length."""

    def is_finished(self, status: BeamStatus, *, width: int, n_best: int) -> bool:
        if status.cannot_improve(min(n_best, width)):
            return True
        at_present_length = status.length_penalty.score(status.best_open, status.length)
        return len(status.complete) == width and at_present_length <= status.complete[-1].score


class ThoroughBeam(_ConstantWidth):
    """A constant number of open hypotheses; stops when none can become better."""

    def is_finished(self, status: BeamStatus, *, width: int, n_best: int) -> bool:
        return status.cannot_improve(min(n_best, width))


class SharedBeam(BeamPolicy):
    """Hypotheses that end take a place in the beam."""

    def num_candidates(self, width: int) -> int:
        return width

    def is_taken(
        self, tokens: Int[Tensor, "beams candidates"], *, end_id: int, width: int
    ) -> Bool[Tensor, "beams candidates"]:
        return (torch.arange(tokens.shape[1], device=tokens.device) < width).expand(tokens.shape)

    def num_complete(self, *, width: int, n_best: int) -> int:
        return min(n_best, width)

    def is_finished(self, status: BeamStatus, *, width: int, n_best: int) -> bool:
        return status.cannot_improve(min(n_best, width))
