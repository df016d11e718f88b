"""Queries that are learned, each looking for one thing in every sequence."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.attend import Attention


class LearnedQueries(nn.Module):
    """context_n = attention(query_n, steps), with the queries as parameters.

    A query stands for a concept; its alignment says, token by token, where the concept was found. Where every
    step would find itself best of all, a query of its own has no such favorite. Paper: Lin et al. 2017, "A
    Structured Self-attentive Sentence Embedding", arXiv:1703.03130, section 2.1, for several looks at one
    sentence.
    """

    def __init__(self, attention: Attention, *, num_queries: int) -> None:
        super().__init__()
        self.attention = attention
        self.queries = nn.Parameter(torch.randn(num_queries, attention.score.query_size))

    def forward(
        self, steps: Float[Tensor, "batch source hidden"], is_token: Bool[Tensor, "batch source"]
    ) -> Float[Tensor, "batch queries value"]:
        contexts, _ = self.attention(
            self.queries.expand(len(steps), -1, -1), steps, may_attend=is_token.unsqueeze(1)
        )
        return contexts
