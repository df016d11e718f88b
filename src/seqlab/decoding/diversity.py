"""Diverse beam search."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from seqlab.core.errors import ArgumentError


@dataclass(frozen=True)
class Diversity:
    """Splits a beam into groups of equal size. At every step the groups choose in turn, and a token costs a
    group `penalty` for each time that an earlier group has chosen it at the same step (Hamming diversity).

    It only affects pruning; log-probabilities and scores do not change. One group is an ordinary beam search.
    Paper: Vijayakumar et al. 2016, "Diverse Beam Search", arXiv:1610.02424, section 3.
    """

    groups: int = 1
    penalty: float = 0.0

    def group_size(self, beam_size: int) -> int:
        if beam_size % self.groups:
            divisors = [groups for groups in range(1, beam_size + 1) if beam_size % groups == 0]
            raise ArgumentError(
                "groups",
                self.groups,
                f"a beam of {beam_size} cannot be divided into {self.groups} equal groups.",
                allowed=", ".join(map(str, divisors)),
            )
        return beam_size // self.groups

    def penalize(
        self, log_probs: Float[Tensor, "sentences hypotheses vocab"], counts: Float[Tensor, "sentences vocab"]
    ) -> Float[Tensor, "sentences hypotheses vocab"]:
        """The ranking scores of a group, given how often earlier groups have chosen each token."""
        return log_probs - self.penalty * counts.unsqueeze(1)
