"""Beams that are told to differ."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from seqlab.core.errors import UsageError


@dataclass(frozen=True)
class Diversity:
    """A beam in groups of equal size. They choose one after the other, and at every step a token costs a
    group `penalty` for each time that an earlier group has chosen it at the same step (Hamming diversity).

    Only what is kept depends on it; log-probabilities and scores stay as they are. One group is a beam like
    any other. Paper: Vijayakumar et al. 2016, "Diverse Beam Search", arXiv:1610.02424, section 3.
    """

    groups: int = 1
    penalty: float = 0.0

    def group_size(self, beam_size: int) -> int:
        if beam_size % self.groups:
            divisors = [groups for groups in range(1, beam_size + 1) if beam_size % groups == 0]
            raise UsageError(
                f"a beam of {beam_size} cannot be divided into {self.groups} groups of equal size.",
                where="decoding.beam_groups",
                cure=f"Numbers of groups that fit: {', '.join(map(str, divisors))}.",
            )
        return beam_size // self.groups

    def penalize(
        self, log_probs: Float[Tensor, "sentences hypotheses vocab"], counts: Float[Tensor, "sentences vocab"]
    ) -> Float[Tensor, "sentences hypotheses vocab"]:
        """What a group ranks by, once earlier groups have chosen every token so many times."""
        return log_probs - self.penalty * counts.unsqueeze(1)
