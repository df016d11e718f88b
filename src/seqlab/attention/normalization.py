"""Turn scores into an alignment: apply the mask and normalize to a sum of 1."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.core.errors import UsageError

Scores = Float[Tensor, "batch target source"]


class Normalizer(nn.Module, ABC):
    """Each query's weights over the visible source steps: nonnegative, with a sum of 1.

    A query without visible steps gets zeros and gives no gradient: its scores are replaced before and its
    weights after the normalization, to avoid -inf minus -inf.
    """

    def forward(
        self, scores: Scores, may_attend: Bool[Tensor, "#batch #target source"] | None = None
    ) -> Scores:
        if may_attend is None:
            return self.normalize(scores)
        check_mask(may_attend, scores)
        sees_nothing = ~may_attend.any(dim=-1, keepdim=True)  # (batch, target, 1)
        scores = scores.masked_fill(~may_attend, -torch.inf).masked_fill(sees_nothing, 0.0)
        return self.normalize(scores).masked_fill(sees_nothing, 0.0)

    @abstractmethod
    def normalize(self, scores: Scores) -> Scores:
        """Weights over all source steps; -inf gets 0, and no row is all -inf."""


class SoftmaxNormalizer(Normalizer):
    """alignment = softmax(scores): every source step gets a positive weight.

    Paper: Bahdanau et al. 2015, arXiv:1409.0473, section 3.1.
    """

    def normalize(self, scores: Scores) -> Scores:
        return scores.softmax(dim=-1)


class HardmaxNormalizer(Normalizer):
    """Hard attention: alignment = 1 at the highest score, 0 elsewhere; ties go to the first.

    The argmax has no derivative. In training, the gradient of the softmax is used instead (straight-through
    estimator). Papers: Xu et al. 2015, "Show, Attend and Tell", arXiv:1502.03044, section 4.1, for hard
    attention; Bengio et al. 2013, "Estimating or Propagating Gradients Through Stochastic Neurons",
    arXiv:1308.3432, for the gradient.
    """

    def normalize(self, scores: Scores) -> Scores:
        best = scores.argmax(dim=-1, keepdim=True)  # (batch, target, 1)
        chosen = torch.zeros_like(scores).scatter(-1, best, 1.0)
        if not self.training:
            return chosen
        soft = scores.softmax(dim=-1)
        return chosen + (soft - soft.detach())  # the term in parentheses is 0, but its derivative is not


def check_mask(may_attend: Tensor, scores: Tensor) -> None:
    """Reject an ambiguous mask: not boolean, or with axes other than those of the scores."""
    if may_attend.dtype != torch.bool:
        raise UsageError(
            f"may_attend has dtype {may_attend.dtype}.",
            cure="It must be bool, True where a query may attend. Convert 0 and 1 with may_attend.bool()",
        )
    fits = may_attend.ndim == 3 and all(
        size in (1, expected) for size, expected in zip(may_attend.shape, scores.shape, strict=True)
    )
    if not fits or may_attend.shape[-1] != scores.shape[-1]:
        raise UsageError(
            f"may_attend has shape {tuple(may_attend.shape)}, but the scores have {tuple(scores.shape)}:"
            " batch, target, source.",
            cure="The first two axes may be 1. A padding mask (batch, source) fits as is_token.unsqueeze(1).",
        )
