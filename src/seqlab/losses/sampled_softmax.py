"""Sampled softmax: cross-entropy over a large vocabulary, estimated from a sample of tokens."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from seqlab.losses.base import LossValue

CERTAIN = 1.0


def inclusion_probabilities(
    counts: Float[Tensor, " vocab"], num_sampled: int, *, power: float = 0.75
) -> Float[Tensor, " vocab"]:
    """π_w = min(1, c · count_w^power), with c such that num_sampled tokens are sampled on average.

    Frequent tokens have π = 1 and are always included; an unseen token counts as seen once.
    """
    if num_sampled >= len(counts):
        return torch.ones_like(counts)
    weights = counts.double().clamp(min=1) ** power
    budget, is_certain = float(num_sampled), torch.zeros_like(weights, dtype=torch.bool)
    while True:  # each round clips rates above 1 and redistributes the rest to the other tokens
        probabilities = torch.where(
            is_certain, CERTAIN, weights * (budget - float(is_certain.sum())) / weights[~is_certain].sum()
        )
        exceeds_one = (probabilities > CERTAIN) & ~is_certain
        if not bool(exceeds_one.any()):
            return probabilities.to(counts.dtype)
        is_certain |= exceeds_one


class SampledSoftmax:
    """-z_target + log Ẑ, where the sum Z over the vocabulary is estimated from a new sample S of tokens for
    every batch.

        z_w = W_w · x + b_w,     Ẑ = exp z_target + Σ_{w ∈ S, w ≠ target} exp(z_w) / π_w

    Token w is in S with probability π_w, so the expectation of Ẑ is Z: dividing by π_w means subtracting log
    π_w, the log of the expected count of w, from its logit. All steps of a batch share S, so that one matrix
    product gives all logits. With π = 1 everywhere this is the full softmax. It is for training only: scores
    always use the full softmax.

    Papers: Bengio & Senécal 2008, "Adaptive Importance Sampling to Accelerate Training of a Neural
    Probabilistic Language Model"; Jean et al. 2015, "On Using Very Large Target Vocabulary for Neural Machine
    Translation", arXiv:1412.2007, section 3.
    """

    def __init__(self, inclusion_probs: Float[Tensor, " vocab"]) -> None:
        self.inclusion_probs = inclusion_probs

    def __call__(
        self,
        features: Float[Tensor, "steps hidden"],
        weight: Float[Tensor, "vocab hidden"],
        bias: Float[Tensor, " vocab"],
        targets: Int[Tensor, " steps"],
    ) -> LossValue:
        """Sum over the steps of the estimated -log P(target), and the number of targets that score higher
        than every sampled token.
        """
        sampled = torch.nonzero(torch.rand(len(self.inclusion_probs)) < self.inclusion_probs).squeeze(
            -1
        )  # (sampled,), in order
        log_inclusion = self.inclusion_probs[sampled].log().to(features)
        sampled = sampled.to(features.device)
        rows = F.embedding(
            torch.cat([sampled, targets]), weight
        )  # a single lookup, since each one costs a gradient of the size of the table
        sampled_logits = F.linear(
            features, rows[: len(sampled)], bias[sampled] - log_inclusion
        )  # (steps, sampled)
        target_logits = (features * rows[len(sampled) :]).sum(dim=-1) + bias[targets]  # (steps,)
        index = torch.searchsorted(sampled, targets).clamp(max=len(sampled) - 1)
        steps = torch.nonzero(sampled[index] == targets).squeeze(
            -1
        )  # the target may be in the sample and must not count twice
        sampled_logits = sampled_logits.index_put(
            (steps, index[steps]), sampled_logits.new_tensor(float("-inf"))
        )
        total = torch.logaddexp(target_logits, sampled_logits.logsumexp(dim=-1)) - target_logits
        best = (sampled_logits.detach() + log_inclusion).amax(dim=-1)
        return LossValue(total.sum(), (target_logits.detach() > best).sum())
