"""Cross-entropy over a large vocabulary, estimated from a part of it."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

SURE = 1.0


def inclusion_probabilities(counts: Float[Tensor, " vocab"], num_sampled: int, *, power: float = 0.75) -> Float[Tensor, " vocab"]:
    """π_w = min(1, c · count_w^power), with c such that num_sampled tokens are drawn on average.

    Frequent tokens have π = 1 and are always there; a token that was never seen counts as seen once.
    """
    if num_sampled >= len(counts):
        return torch.ones_like(counts)
    wishes = counts.double().clamp(min=1) ** power
    left, is_sure = float(num_sampled), torch.zeros_like(wishes, dtype=torch.bool)
    while True:  # each round makes sure of those that want more than 1; what they leave is shared by the others
        chances = torch.where(is_sure, SURE, wishes * (left - float(is_sure.sum())) / wishes[~is_sure].sum())
        too_sure = (chances > SURE) & ~is_sure
        if not bool(too_sure.any()):
            return chances.to(counts.dtype)
        is_sure |= too_sure


class SampledSoftmax:
    """-z_target + log Ẑ, where the sum Z over the vocabulary is estimated from tokens S drawn anew for every batch.

        z_w = W_w · x + b_w,     Ẑ = exp z_target + Σ_{w ∈ S, w ≠ target} exp(z_w) / π_w

    Token w is in S with probability π_w, so the expectation of Ẑ is Z: dividing by π_w is subtracting log π_w, the log of how often w is
    expected, from its logit. All steps of a batch share S, so that one product of matrices gives all logits. With π = 1 everywhere this is
    the full softmax. It is for training only: scores are always those of the full one.

    Papers: Bengio & Senécal 2008, "Adaptive Importance Sampling to Accelerate Training of a Neural Probabilistic Language Model";
    Jean et al. 2015, "On Using Very Large Target Vocabulary for Neural Machine Translation", arXiv:1412.2007, section 3.
    """

    def __init__(self, chances: Float[Tensor, " vocab"]) -> None:
        self.chances = chances

    def __call__(
        self,
        features: Float[Tensor, "steps hidden"],
        weight: Float[Tensor, "vocab hidden"],
        bias: Float[Tensor, " vocab"],
        targets: Int[Tensor, " steps"],
    ) -> tuple[Float[Tensor, ""], int]:
        """Sum over the steps of the estimated -log P(target), and how many targets beat every sampled token."""
        sampled = torch.nonzero(torch.rand(len(self.chances)) < self.chances).squeeze(-1)  # (sampled,), in order
        shift = self.chances[sampled].log().to(features)
        sampled = sampled.to(features.device)
        rows = F.embedding(torch.cat([sampled, targets]), weight)  # looked up at once: each look-up costs a gradient as large as the table
        others = F.linear(features, rows[: len(sampled)], bias[sampled] - shift)  # (steps, sampled)
        own = (features * rows[len(sampled) :]).sum(dim=-1) + bias[targets]  # (steps,)
        place = torch.searchsorted(sampled, targets).clamp(max=len(sampled) - 1)
        steps = torch.nonzero(sampled[place] == targets).squeeze(-1)  # whose target was also drawn: it must not count twice
        others = others.index_put((steps, place[steps]), others.new_tensor(float("-inf")))
        total = torch.logaddexp(own, others.logsumexp(dim=-1)) - own
        best = (others.detach() + shift).amax(dim=-1)
        return total.sum(), int((own.detach() > best).sum())
