"""Attention with learned queries, each for one concept in every sequence."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.attend import Attention


class LearnedQueries(nn.Module):
    """context_n = attention(query_n, steps), with the queries as parameters.

    A query represents a concept; its alignment shows, token by token, where the concept occurs. In plain
    self-attention each step tends to match itself best; a learned query avoids that. Paper: Lin et al. 2017,
    "A Structured Self-attentive Sentence Embedding", arXiv:1703.03130, section 2.1, for several queries per
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
