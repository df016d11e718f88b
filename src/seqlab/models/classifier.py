"""A sequence classifier: predicts one class per sequence."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.head import MLPHead, linear_head
from seqlab.blocks.pooling import AttentionPool, FirstPool, LastPool, MaxPool, MeanPool, pooled_size
from seqlab.core.errors import ArgumentError
from seqlab.models.base import Backbone, backbones
from seqlab.models.images.classifier import build_image_classifier
from seqlab.models.ngram_bag import NGramBag, build_bag
from seqlab.models.settings.bag import BagSettings, NGramBagSettings
from seqlab.models.settings.images import ImageSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import ModelSettings, SequenceSettings, require_sequence_settings

NO_BAG = BagSettings()
"""No bag of n-grams in addition to the network."""


class Classifier(nn.Module):
    """logits = head(dropout(pool(backbone(embed(inputs))))), plus the logits of a bag of n-grams, if there is
    one.

    The wide linear model and the deep network are trained jointly. Paper: Cheng et al. 2016, "Wide & Deep
    Learning for Recommender Systems", arXiv:1606.07792.

    `ignore_padding_mask` treats padding as text, a common mistake; only for comparison.
    """

    def __init__(
        self,
        embed: nn.Module,
        backbone: Backbone,
        pool: nn.Module,
        head: nn.Module,
        *,
        dropout: float,
        ignore_padding_mask: bool = False,
        bag: NGramBag | None = None,
    ) -> None:
        super().__init__()
        self.embed = embed
        self.backbone = backbone
        self.pool = pool
        self.dropout = Dropout(dropout)
        self.head = head
        self.ignore_padding_mask = ignore_padding_mask
        self.bag = bag

    def forward(
        self, inputs: Shaped[Tensor, "batch time *features"], is_token: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch classes"]:
        if self.ignore_padding_mask:
            is_token = torch.ones_like(is_token)
        features, _ = self.backbone(self.embed(inputs), is_token)  # (batch, time, output)
        logits = self.head(self.dropout(self.pool(features, is_token)))
        return logits if self.bag is None else logits + self.bag(inputs, is_token)


def build_classifier(
    settings: ModelSettings,
    *,
    embedding: Callable[[int], nn.Module],
    num_classes: int,
    num_features: int = 0,
    is_exclusive: bool = True,
    bag: BagSettings = NO_BAG,
) -> nn.Module:
    """Build the network from its settings; `embedding` builds the input layer of a given width.

    num_features: numbers in one step, which an image network reads as a row of pixels; 0 if a step is a
    token. is_exclusive: whether an example has exactly one class, so that two classes may share a logit.
    """
    if isinstance(settings, NGramBagSettings):
        return build_bag(bag, num_classes=num_classes, num_features=num_features)
    if isinstance(settings, ImageSettings):
        return build_image_classifier(
            settings,
            num_features=num_features,
            num_classes=num_classes,
            pool=build_pool(settings, settings.hidden_size),
        )
    settings = require_sequence_settings(settings)
    backbone = backbones.get(settings.kind).from_settings(settings, causal=False)
    pool = build_pool(settings, backbone.output_size)
    return Classifier(
        embedding(backbone.input_size),
        backbone,
        pool,
        build_head(settings, pooled_size(pool, backbone.output_size), num_classes, is_exclusive=is_exclusive),
        dropout=settings.dropout,
        ignore_padding_mask=not getattr(settings, "padding_mask", True),
        bag=build_bag(bag, num_classes=num_classes, num_features=num_features) if bag.n_grams else None,
    )


def build_head(
    settings: ModelSettings, size: int, num_classes: int, *, is_exclusive: bool = True
) -> nn.Module:
    """One layer, or two if the settings add a hidden one."""
    if isinstance(settings, RecurrentSettings) and settings.head_size:
        return MLPHead(
            size,
            num_classes,
            hidden_size=settings.head_size,
            dropout=settings.dropout,
            is_exclusive=is_exclusive,
        )
    return linear_head(size, num_classes)


def build_pool(settings: SequenceSettings | ImageSettings, size: int) -> nn.Module:
    """The pooling of steps of a given width."""
    if settings.pooling == "max":
        return MaxPool()
    if settings.pooling == "mean":
        return MeanPool()
    if settings.pooling == "first":
        return FirstPool()
    if settings.pooling == "queries":
        return AttentionPool(size, num_queries=settings.queries)
    bidirectional = isinstance(settings, RecurrentSettings) and settings.bidirectional
    if bidirectional and settings.merge != "concat":  # type: ignore[union-attr]  # only a recurrent network is bidirectional
        raise ArgumentError(
            "pooling",
            settings.pooling,
            "'last' pools each direction at its own final step, but merged directions cannot be separated.",
            cure="Use pooling=max or pooling=mean, or keep the directions separate with merge=concat",
        )
    return LastPool(bidirectional=bidirectional)
