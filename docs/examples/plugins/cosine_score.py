"""An attention score of your own: the cosine of the angle between query and key."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab import register
from seqlab.attention.base import ScoreFunction


@register.attention_score("cosine")
class CosineScore(ScoreFunction):
    """score(q, k) = scale · cos(W q, k), with a learned scale.

    W projects queries to the width of the keys.
    """

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__(query_size, key_size)
        self.project_query = nn.Linear(query_size, key_size, bias=False)
        self.scale = nn.Parameter(torch.tensor(5.0))

    def project_keys(self, keys: Tensor) -> Tensor:
        return F.normalize(keys, dim=-1)  # (batch, source, key), once for all queries

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        queries = F.normalize(self.project_query(queries), dim=-1)  # (batch, target, key)
        return self.scale * queries @ keys.transpose(1, 2)
