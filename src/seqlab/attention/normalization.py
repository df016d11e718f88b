"""Scores become an alignment: masked and brought to one, once for every score."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.core.errors import UsageError

Scores = Float[Tensor, "batch target source"]


class Normalizer(nn.Module, ABC):
    """Each query's weights over the sources that it may attend to: none is negative, and together they are 1.

    A query that may attend to nothing gets zeros, and gives no gradient: its scores are replaced before and
    its weights after, so that no -inf meets another one.
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
        """Weights over all sources; -inf gets 0, and no row is -inf throughout."""


class SoftmaxNormalizer(Normalizer):
    """alignment = softmax(scores): every source gets a part.

    Paper: Bahdanau et al. 2015, arXiv:1409.0473, section 3.1.
    """

    def normalize(self, scores: Scores) -> Scores:
        return scores.softmax(dim=-1)


class HardmaxNormalizer(Normalizer):
    """alignment = 1 at the highest score, 0 elsewhere; the first of equals wins.

    The choice has no derivative. While training its gradient is taken to be that of the softmax
    (straight-through). Papers: Xu et al. 2015, "Show, Attend and Tell", arXiv:1502.03044, section 4.1, for
    attention to one place; Bengio et al. 2013, "Estimating or Propagating Gradients Through Stochastic
    Neurons", arXiv:1308.3432, for the gradient.
    """

    def normalize(self, scores: Scores) -> Scores:
        best = scores.argmax(dim=-1, keepdim=True)  # (batch, target, 1)
        chosen = torch.zeros_like(scores).scatter(-1, best, 1.0)
        if not self.training:
            return chosen
        soft = scores.softmax(dim=-1)
        return chosen + (soft - soft.detach())  # the bracket is 0, but not its derivative


def check_mask(may_attend: Tensor, scores: Tensor) -> None:
    """Refuse a mask that could be misread: numbers, or axes that are not those of the scores."""
    if may_attend.dtype != torch.bool:
        raise UsageError(
            f"may_attend holds {may_attend.dtype}.",
            cure="It takes bool, True where a query may look. From 0 and 1: may_attend.bool()",
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
