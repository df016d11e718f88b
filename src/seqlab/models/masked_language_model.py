"""A masked language model: predicts masked tokens from their context."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.base import Backbone

NORM_EPS = 1e-12
"""The value that BERT uses."""


class MaskedLanguageModel(nn.Module):
    """logits = E norm(gelu(W backbone(embed(tokens)) + b)) + c, at the target positions only.

    If tied, E is the embedding table; W projects features of any width to that of the embedding, so that
    every backbone can be tied. The output layer, the most expensive part of a small model, is computed only
    at target positions: it skips 85% of the positions in training.

    Paper: Devlin et al. 2019, "BERT", arXiv:1810.04805, section 3.1 (task 1).
    """

    def __init__(
        self,
        embed: TokenEmbedding,
        backbone: Backbone,
        *,
        dropout: float,
        tied: bool,
        norm_eps: float = NORM_EPS,
    ) -> None:
        super().__init__()
        self.embed = embed
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        size = embed.embedding_dim
        self.transform = nn.Linear(backbone.output_size, size)
        nn.init.xavier_uniform_(self.transform.weight)
        nn.init.zeros_(self.transform.bias)
        self.norm = nn.LayerNorm(size, eps=norm_eps)
        self.bias = nn.Parameter(torch.zeros(embed.num_embeddings))
        self.weight = None if tied else nn.Parameter(torch.randn(embed.num_embeddings, size) * size**-0.5)

    def forward(
        self,
        tokens: Int[Tensor, "batch time"],
        is_token: Bool[Tensor, "batch time"],
        is_target: Bool[Tensor, "batch time"],
    ) -> Float[Tensor, "targets vocab"]:
        """The logits of every target position, row by row and from left to right."""
        features, _ = self.backbone(self.embed(tokens), is_token)  # (batch, time, output)
        selected = self.dropout(features[is_target])  # (targets, output)
        transformed = self.norm(F.gelu(self.transform(selected)))  # (targets, input)
        return F.linear(transformed, self.embed.weight if self.weight is None else self.weight, self.bias)
