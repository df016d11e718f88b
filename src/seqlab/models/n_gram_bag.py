"""A weighted bag of n-grams: which runs of tokens stand in a sequence, wherever they stand."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.blocks.n_grams import NGramTable
from seqlab.core.errors import RecipeError
from seqlab.models.counting import Counting, Examples
from seqlab.models.settings import BagSettings

N_GRAMS, PLACES = 3, 1 << 18
"""What a bag has where nobody says anything else."""
SMOOTHING = 1.0
"""What every count starts from."""
STRENGTH = 10.0
"""How far one update moves the logits, compared with the rest of a network; chosen on validation data (docs/recipes/imdb.md)."""


class NGramBag(nn.Module, Counting):
    """Logistic regression on n-grams, each scaled by how much it speaks for a class: NB-SVM with a logistic loss.

        logits = STRENGTH / √m · Σ_g w[g] ⊙ r[g] + b        over the m distinct known n-grams g of the sequence
        r[g]   = log (p[g] / ‖p‖₁) - log (q[g] / ‖q‖₁)      p = 1 + sequences of a class with g, q = 1 + those of all others

    p and q are counted on the training split before the first update; w and b are trained. A sequence of the training split does not count
    itself: where `belongs` tells its classes, it is taken out of p and q again, or w would learn to trust counts that know the answer.
    Where answers are no classes, r is 1.

    Papers: Wang & Manning 2012, "Baselines and Bigrams: Simple, Good Sentiment and Topic Classification", ACL, section 2;
    Mesnil et al. 2015, "Ensemble of Generative and Discriminative Techniques for Sentiment Analysis of Movie Reviews", arXiv:1412.5335.
    """

    counts: Float[Tensor, "places classes"]
    totals: Float[Tensor, " places"]
    log_sizes: Float[Tensor, " classes"]

    def __init__(self, num_classes: int, *, n_grams: int, places: int, least: int) -> None:
        """least: an n-gram of fewer training sequences has no weight."""
        super().__init__()
        self.table = NGramTable(places, longest=n_grams, least=least)
        self.weight = nn.Parameter(torch.zeros(places, num_classes))
        self.bias = nn.Parameter(torch.zeros(num_classes))
        self.register_buffer("counts", torch.zeros(places, num_classes))
        self.register_buffer("totals", torch.zeros(places))
        self.register_buffer("log_sizes", torch.zeros(num_classes))  # log (‖p‖₁ / ‖q‖₁)

    def forward(
        self, inputs: Int[Tensor, "batch time"], is_token: Bool[Tensor, "batch time"], belongs: Float[Tensor, "batch classes"] | None = None
    ) -> Float[Tensor, "batch classes"]:
        rows, places = self.table(inputs, is_token)
        own = None if belongs is None else belongs.index_select(0, rows)  # (found, classes)
        spoken = self.weight.index_select(0, places) * self.ratios(places, own)
        sums = spoken.new_zeros(len(inputs), spoken.shape[1]).index_add(0, rows, spoken)  # (batch, classes)
        found = torch.bincount(rows, minlength=len(inputs)).clamp(min=1)
        return STRENGTH * sums / found.sqrt().unsqueeze(1) + self.bias

    def ratios(self, places: Int[Tensor, " found"], own: Float[Tensor, "found classes"] | None = None) -> Float[Tensor, "found classes"]:
        """r of the n-grams in some places; `own` is what the sequence that asks has added to the counts of its classes."""
        counts = self.counts.index_select(0, places)
        others = self.totals.index_select(0, places).unsqueeze(1) - counts
        if own is not None:
            counts, others = (counts - own).clamp(min=0), (others - (1 - own)).clamp(min=0)  # 0: for sequences that were not counted
        return ((counts + SMOOTHING) / (others + SMOOTHING)).log() - self.log_sizes

    @torch.no_grad()
    def count(self, examples: Examples) -> None:
        self.table.fill((inputs, is_token) for inputs, is_token, _ in examples())
        self.counts.zero_()
        self.totals.zero_()
        for inputs, is_token, belongs in examples():
            if belongs is None:
                self.log_sizes.fill_(-1.0)  # r = log (1/1) + 1
                return
            rows, places = self.table(inputs, is_token)
            self.counts.index_add_(0, places, belongs.index_select(0, rows))
            self.totals.index_add_(0, places, torch.ones_like(places, dtype=self.totals.dtype))
        is_used = self.totals > 0
        counts = self.counts[is_used] + SMOOTHING
        others = self.totals[is_used].unsqueeze(1) - self.counts[is_used] + SMOOTHING
        self.log_sizes.copy_((counts.double().sum(dim=0) / others.double().sum(dim=0)).log())


def build_bag(settings: BagSettings, *, num_classes: int, num_features: int) -> NGramBag:
    """num_features: numbers in one step; 0 where a step is a token."""
    if num_features:
        raise RecipeError(
            "n-grams are runs of tokens, and these sequences are series of numbers.",
            where="bag.n_grams",
            cure="Use --model bilstm and bag.n_grams=0.",
        )
    return NGramBag(num_classes, n_grams=settings.n_grams or N_GRAMS, places=settings.places or PLACES, least=settings.least)
