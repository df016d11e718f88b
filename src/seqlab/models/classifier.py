"""A whole network that gives each sequence one class."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.head import HiddenHead, linear_head
from seqlab.blocks.pooling import LastPool, MaxPool, MeanPool
from seqlab.core.errors import RecipeError
from seqlab.models.base import Body
from seqlab.models.settings import ConvolutionalSettings, RecurrentSettings, TransformerSettings


class Classifier(nn.Module):
    """logits = head(dropout(pool(body(embed(inputs))))).

    With `sees_padding` the padding is treated as if it were text, as a common mistake does; only for comparison.
    """

    def __init__(self, embed: nn.Module, body: Body, pool: nn.Module, head: nn.Module, *, dropout: float, sees_padding: bool = False) -> None:
        super().__init__()
        self.embed = embed
        self.body = body
        self.pool = pool
        self.dropout = Dropout(dropout)
        self.head = head
        self.sees_padding = sees_padding

    def forward(self, inputs: Shaped[Tensor, "batch time *features"], is_token: Bool[Tensor, "batch time"]) -> Float[Tensor, "batch classes"]:
        if self.sees_padding:
            is_token = torch.ones_like(is_token)
        features, _ = self.body(self.embed(inputs), is_token)  # (batch, time, output)
        return self.head(self.dropout(self.pool(features, is_token)))


def build_head(settings: RecurrentSettings | ConvolutionalSettings | TransformerSettings, size: int, num_classes: int) -> nn.Module:
    """One layer, or two where the settings ask for a hidden one."""
    if isinstance(settings, RecurrentSettings) and settings.head_size:
        return HiddenHead(size, num_classes, hidden_size=settings.head_size, dropout=settings.dropout)
    return linear_head(size, num_classes)


def build_pool(settings: RecurrentSettings | ConvolutionalSettings | TransformerSettings) -> nn.Module:
    """How all steps become one vector."""
    if settings.pooling == "max":
        return MaxPool()
    if settings.pooling == "mean":
        return MeanPool()
    bidirectional = isinstance(settings, RecurrentSettings) and settings.bidirectional
    if bidirectional and settings.merge != "concat":  # type: ignore[union-attr]
        raise RecipeError(
            "'last' takes each direction where it has read all, and merged directions cannot be told apart.",
            where="model.pooling",
            cure="Use model.pooling=max or model.pooling=mean, or keep the directions side by side: model.merge=concat",
        )
    return LastPool(bidirectional=bidirectional)
