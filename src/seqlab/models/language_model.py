"""A whole network that predicts the next token at every step."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.base import Body, State


class LanguageModel(nn.Module):
    """logits_t = W body(embed(tokens))_t + b, where the body has seen tokens up to t.

    When tied, W is the embedding's own table.  Paper: Press & Wolf 2017, "Using the Output Embedding to Improve Language Models", arXiv:1608.05859.
    """

    def __init__(self, embed: TokenEmbedding, body: Body, *, dropout: float, tied: bool) -> None:
        super().__init__()
        self.embed = embed
        self.body = body
        self.dropout = Dropout(dropout)
        num_tokens = embed.num_embeddings
        self.bias = nn.Parameter(torch.zeros(num_tokens))
        self.weight = None if tied else nn.Parameter(torch.randn(num_tokens, body.output_size) * body.output_size**-0.5)

    def forward(
        self, tokens: Int[Tensor, "batch time"], is_token: Bool[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], State]:
        features, state = self.body(self.embed(tokens), is_token, state)  # (batch, time, output)
        weight = self.embed.weight if self.weight is None else self.weight
        return F.linear(self.dropout(features), weight, self.bias), state
