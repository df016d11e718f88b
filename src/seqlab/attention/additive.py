"""Additive (Bahdanau) score, a small network: v · tanh(W q + U k)."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.base import ScoreFunction, score_functions
from seqlab.attention.chunked_additive import chunked_additive_scores, query_chunk_size


@score_functions.register("additive")
class AdditiveScore(ScoreFunction):
    """A small network over query and key, without biases.

        score(q, k) = v · tanh(W q + U k)

    hidden_size: width of the inner layer; 0 means the width of the keys. Paper: Bahdanau et al. 2015, "Neural
    Machine Translation by Jointly Learning to Align and Translate", arXiv:1409.0473, appendix A.1.2.

    The inner layer has batch * target * source * hidden numbers, more than any other part of attention. If it
    is large, it is computed in chunks and never stored (`chunked_additive`); this path has no second
    derivative.
    """

    def __init__(self, query_size: int, key_size: int, *, hidden_size: int = 0) -> None:
        super().__init__(query_size, key_size)
        self.hidden_size = hidden_size or key_size
        self.project_query = nn.Linear(query_size, self.hidden_size, bias=False)
        self.project_key = nn.Linear(key_size, self.hidden_size, bias=False)
        self.energy = nn.Linear(self.hidden_size, 1, bias=False)

    def project_keys(self, keys: Float[Tensor, "batch source key"]) -> Float[Tensor, "batch source hidden"]:
        return self.project_key(keys)

    def energies(
        self, queries: Float[Tensor, "batch target query"], keys: Float[Tensor, "batch source hidden"]
    ) -> Float[Tensor, "batch target source"]:
        queries = self.project_query(queries)  # (batch, target, hidden)
        if queries.shape[1] > query_chunk_size(keys):
            return chunked_additive_scores(queries, keys, self.energy.weight[0])
        inner = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))  # (batch, target, source, hidden)
        return self.energy(inner).squeeze(-1)
