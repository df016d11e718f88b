"""The additive score in its concatenated form: w · tanh(W [q; k])."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.base import ScoreFunction, score_functions


@score_functions.register("concat")
class ConcatScore(ScoreFunction):
    """A small network over the concatenation of query and key, without biases.

        score(q, k) = w · tanh(W [q; k])

    hidden_size: width of the inner layer; 0 means the width of the keys. Paper: Luong et al. 2015, "Effective
    Approaches to Attention-based Neural Machine Translation", arXiv:1508.04025, section 3.1.

    The same function as `additive`, whose W and U are the two halves of this W. Here every pair is stored,
    which takes target * source * (query + key) numbers for each sequence; `additive` gives the same result
    without them.
    """

    def __init__(self, query_size: int, key_size: int, *, hidden_size: int = 0) -> None:
        super().__init__(query_size, key_size)
        self.hidden_size = hidden_size or key_size
        self.project = nn.Linear(query_size + key_size, self.hidden_size, bias=False)
        self.energy = nn.Linear(self.hidden_size, 1, bias=False)

    def energies(
        self, queries: Float[Tensor, "batch target query"], keys: Float[Tensor, "batch source key"]
    ) -> Float[Tensor, "batch target source"]:
        target, source = queries.shape[1], keys.shape[1]
        pairs = torch.cat(
            [queries.unsqueeze(2).expand(-1, -1, source, -1), keys.unsqueeze(1).expand(-1, target, -1, -1)],
            dim=-1,
        )  # (batch, target, source, query + key)
        return self.energy(torch.tanh(self.project(pairs))).squeeze(-1)
