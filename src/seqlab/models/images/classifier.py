"""A whole network that gives each picture one class."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.head import linear_head
from seqlab.blocks.image import RowsToPicture
from seqlab.blocks.query_pool import pooled_size
from seqlab.models.images.base import PictureNetwork
from seqlab.models.images.convolutional import ImageConvolutional
from seqlab.models.images.vision_transformer import VisionTransformer
from seqlab.models.settings import PictureSettings, VisionTransformerSettings


class PictureClassifier(nn.Module):
    """logits = head(dropout(pool(network(picture)))); the rows of a picture come as steps."""

    def __init__(self, rows: RowsToPicture, network: PictureNetwork, pool: nn.Module, head: nn.Module, *, dropout: float) -> None:
        super().__init__()
        self.rows = rows
        self.network = network
        self.pool = pool
        self.dropout = Dropout(dropout)
        self.head = head

    def forward(self, inputs: Float[Tensor, "batch time features"], is_token: Bool[Tensor, "batch time"]) -> Float[Tensor, "batch classes"]:
        features = self.network(self.rows(inputs, is_token))  # (batch, regions, output)
        is_region = torch.ones(features.shape[:2], dtype=torch.bool, device=features.device)
        return self.head(self.dropout(self.pool(features, is_region)))


def build_picture_classifier(settings: PictureSettings, *, num_features: int, num_classes: int, pool: nn.Module) -> PictureClassifier:
    """num_features: the numbers in one row of a picture."""
    rows = RowsToPicture.of(num_features, channels=settings.channels, height=settings.height)
    network = build_picture_network(settings, rows)
    return PictureClassifier(rows, network, pool, linear_head(pooled_size(pool, network.output_size), num_classes), dropout=settings.dropout)


def build_picture_network(settings: PictureSettings, pictures: RowsToPicture) -> PictureNetwork:
    if isinstance(settings, VisionTransformerSettings):
        return VisionTransformer.build(settings, pictures)
    return ImageConvolutional.build(settings, pictures)
