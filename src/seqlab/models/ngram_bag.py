"""A weighted bag of n-grams: which n-grams occur in a sequence, regardless of their position."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.blocks.ngrams import NGramTable
from seqlab.core.errors import ArgumentError
from seqlab.models.count_statistics import CountStatistics, Examples
from seqlab.models.settings.bag import BagSettings

DEFAULT_MAX_N, DEFAULT_MAX_FEATURES = 3, 1 << 18
"""The default settings of a bag."""
SMOOTHING = 1.0
"""What every count starts from."""
LOGIT_SCALE = 10.0
"""How far one update moves the logits, compared with the rest of a network; chosen on validation data
(docs/recipes/imdb.md).
"""


class NGramBag(nn.Module, CountStatistics):
    """Logistic regression on n-grams, each scaled by its naive Bayes log-count ratio: NB-SVM with a logistic
    loss.

        logits = LOGIT_SCALE / √m · Σ_g w[g] ⊙ r[g] + b        over the m distinct known n-grams g of the sequence
        r[g]   = log (p[g] / ‖p‖₁) - log (q[g] / ‖q‖₁)      p = 1 + sequences of a class with g, q = 1 + those of all others

    p and q are counted on the training split before the first update; w and b are trained and start at zero:
    w = 1, which is naive Bayes, would fit the training split immediately and leave nothing to learn. If the
    targets are not classes, r is 1.

    Papers: Wang & Manning 2012, "Baselines and Bigrams: Simple, Good Sentiment and Topic Classification",
    ACL, section 2; Mesnil et al. 2015, "Ensemble of Generative and Discriminative Techniques for Sentiment
    Analysis of Movie Reviews", arXiv:1412.5335.
    """

    ratios: Float[Tensor, "features classes"]

    def __init__(self, num_classes: int, *, max_n: int, max_features: int, min_df: int) -> None:
        """min_df: minimum number of training sequences in which an n-gram must occur."""
        super().__init__()
        self.table = NGramTable(max_features, max_n=max_n, min_df=min_df)
        self.weight = nn.Parameter(torch.zeros(max_features, num_classes))
        self.bias = nn.Parameter(torch.zeros(num_classes))
        self.register_buffer("ratios", torch.zeros(max_features, num_classes))

    def forward(
        self, inputs: Int[Tensor, "batch time"], is_token: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch classes"]:
        rows, slots = self.table(inputs, is_token)
        contributions = self.weight.index_select(0, slots) * self.ratios.index_select(
            0, slots
        )  # (known n-grams, classes)
        sums = contributions.new_zeros(len(inputs), contributions.shape[1]).index_add(
            0, rows, contributions
        )  # (batch, classes)
        num_known = torch.bincount(rows, minlength=len(inputs)).clamp(min=1)
        return LOGIT_SCALE * sums / num_known.sqrt().unsqueeze(1) + self.bias

    @torch.no_grad()
    def fit_counts(self, examples: Examples) -> None:
        self.table.fit((inputs, is_token) for inputs, is_token, _ in examples())
        counts, others = torch.zeros_like(self.ratios), torch.zeros_like(self.ratios)
        for inputs, is_token, belongs in examples():
            if belongs is None:
                self.ratios.fill_(1.0)
                return
            rows, slots = self.table(inputs, is_token)
            counts.index_add_(0, slots, belongs.index_select(0, rows))
            others.index_add_(0, slots, 1 - belongs.index_select(0, rows))
        is_used = (counts + others > 0).any(dim=1, keepdim=True)
        self.ratios.copy_(
            (_log_shares(counts, is_used) - _log_shares(others, is_used)).masked_fill(~is_used, 0.0)
        )


def _log_shares(
    counts: Float[Tensor, "features classes"], is_used: Bool[Tensor, "features 1"]
) -> Float[Tensor, "features classes"]:
    """log (p / ‖p‖₁) of every class; unused table entries are excluded from the sum."""
    smoothed = counts + SMOOTHING
    return smoothed.log() - (smoothed * is_used).sum(dim=0, dtype=torch.float64).log().to(smoothed)


def build_bag(settings: BagSettings, *, num_classes: int, num_features: int) -> NGramBag:
    """num_features: numbers in one step; 0 if a step is a token."""
    if num_features:
        raise ArgumentError(
            "n_grams",
            settings.n_grams,
            "n-grams are sequences of tokens, but this data is numeric.",
            cure="Use kind=recurrent and n_grams=0.",
            part="bag",
        )
    return NGramBag(
        num_classes,
        max_n=settings.n_grams or DEFAULT_MAX_N,
        max_features=settings.max_features or DEFAULT_MAX_FEATURES,
        min_df=settings.min_df,
    )
