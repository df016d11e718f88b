"""A sequence tagger: predicts one tag per step."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from seqlab.blocks.crf import CRF
from seqlab.blocks.dropout import Dropout
from seqlab.core.errors import ArgumentError
from seqlab.losses.base import LossValue
from seqlab.losses.tag_loss import TagLoss
from seqlab.models.base import Backbone, backbones
from seqlab.models.classifier import build_head
from seqlab.models.settings.images import ImageSettings
from seqlab.models.settings.section import ModelSettings, require_sequence_settings


class Tagger(nn.Module):
    """logits_t = head(dropout(backbone(embed(inputs))_t)), at each step; with a CRF, all tags of a sentence
    are predicted jointly.

    The modules have the same names as in a classifier, so that a pretrained backbone fits.
    `ignore_padding_mask` treats padding as text, a common mistake; only for comparison.
    """

    def __init__(
        self,
        embed: nn.Module,
        backbone: Backbone,
        head: nn.Module,
        *,
        dropout: float,
        crf: CRF | None = None,
        ignore_padding_mask: bool = False,
    ) -> None:
        super().__init__()
        self.embed = embed
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        self.head = head
        self.crf = crf
        self.ignore_padding_mask = ignore_padding_mask

    def forward(
        self,
        inputs: Shaped[Tensor, "batch time *features"],
        is_token: Bool[Tensor, "batch time"],
        *,
        loss: TagLoss | None = None,
    ) -> Float[Tensor, "batch time tags"] | LossValue:
        """The logits of every step or, if a loss is given, its value."""
        if self.ignore_padding_mask:
            is_token = torch.ones_like(is_token)
        features, _ = self.backbone(self.embed(inputs), is_token)  # (batch, time, output)
        logits = self.head(self.dropout(features).flatten(0, 1)).unflatten(
            0, is_token.shape
        )  # heads expect a single batch axis
        return logits if loss is None else loss(logits, self.crf)


def build_tagger(
    settings: ModelSettings, *, embedding: Callable[[int], nn.Module], num_tags: int, crf: bool = False
) -> nn.Module:
    """Build the network from its settings; `embedding` builds the input layer of a given width.

    crf: predict the tags of a sentence jointly with a linear-chain CRF.
    """
    if isinstance(settings, ImageSettings):
        raise ArgumentError(
            "kind",
            settings.kind,
            f"a {settings.kind} network reads a whole image and has no steps to tag.",
            cure="Use, for example, kind=recurrent with bidirectional=true",
        )
    settings = require_sequence_settings(settings)
    backbone = backbones.get(settings.kind).from_settings(settings, causal=False)
    return Tagger(
        embedding(backbone.input_size),
        backbone,
        build_head(settings, backbone.output_size, num_tags),
        dropout=settings.dropout,
        crf=CRF(num_tags) if crf else None,
        ignore_padding_mask=not getattr(settings, "padding_mask", True),
    )
