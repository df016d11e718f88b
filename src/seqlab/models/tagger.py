"""A whole network that gives each step of a sequence one tag."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from seqlab.blocks.crf import TagChain
from seqlab.blocks.dropout import Dropout
from seqlab.core.errors import RecipeError
from seqlab.models.base import Body, bodies
from seqlab.models.classifier import build_head
from seqlab.models.settings import ModelSettings, PictureSettings, for_sequences


class Tagger(nn.Module):
    """logits_t = head(dropout(body(embed(inputs))_t)), at each step; with a chain, tags are decided from all logits of a sentence together.

    The parts are called as in a classifier, so that a body learned elsewhere fits. With `sees_padding` the padding is treated as if it
    were text, as a common mistake does; only for comparison.
    """

    def __init__(
        self, embed: nn.Module, body: Body, head: nn.Module, *, dropout: float, chain: TagChain | None = None, sees_padding: bool = False
    ) -> None:
        super().__init__()
        self.embed = embed
        self.body = body
        self.dropout = Dropout(dropout)
        self.head = head
        self.chain = chain
        self.sees_padding = sees_padding

    def forward(self, inputs: Shaped[Tensor, "batch time *features"], is_token: Bool[Tensor, "batch time"]) -> Float[Tensor, "batch time tags"]:
        if self.sees_padding:
            is_token = torch.ones_like(is_token)
        features, _ = self.body(self.embed(inputs), is_token)  # (batch, time, output)
        return self.head(self.dropout(features).flatten(0, 1)).unflatten(0, is_token.shape)  # heads know one axis of examples


def build_tagger(settings: ModelSettings, *, embedding: Callable[[int], nn.Module], num_tags: int, crf: bool = False) -> nn.Module:
    """The whole network that the settings describe; `embedding` makes the layer through which steps enter, of a width.

    crf: with a chain over the tags.
    """
    if isinstance(settings, PictureSettings):
        raise RecipeError(f"a {settings.kind} network sees a picture as a whole, and has no steps to tag.", where="model.kind", cure="--model bilstm")
    settings = for_sequences(settings)
    body = bodies.get(settings.kind).build(settings, causal=False)
    return Tagger(
        embedding(body.input_size),
        body,
        build_head(settings, body.output_size, num_tags),
        dropout=settings.dropout,
        chain=TagChain(num_tags) if crf else None,
        sees_padding=not getattr(settings, "padding_mask", True),
    )
