"""An image classifier: predicts one class per image."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.head import linear_head
from seqlab.blocks.image import RowsToImage
from seqlab.blocks.pooling import pooled_size
from seqlab.models.images.base import ImageBackbone
from seqlab.models.images.convolutional import ConvolutionalImageBackbone
from seqlab.models.images.vision_transformer import VisionTransformer
from seqlab.models.settings.images import ImageSettings, VisionTransformerSettings


class ImageClassifier(nn.Module):
    """logits = head(dropout(pool(network(image)))); the rows of an image are the steps."""

    def __init__(
        self, rows: RowsToImage, network: ImageBackbone, pool: nn.Module, head: nn.Module, *, dropout: float
    ) -> None:
        super().__init__()
        self.rows = rows
        self.network = network
        self.pool = pool
        self.dropout = Dropout(dropout)
        self.head = head

    def forward(
        self, inputs: Float[Tensor, "batch time features"], is_token: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch classes"]:
        features = self.network(self.rows(inputs, is_token))  # (batch, regions, output)
        is_region = torch.ones(features.shape[:2], dtype=torch.bool, device=features.device)
        return self.head(self.dropout(self.pool(features, is_region)))


def build_image_classifier(
    settings: ImageSettings, *, num_features: int, num_classes: int, pool: nn.Module
) -> ImageClassifier:
    """num_features: the numbers in one row of an image."""
    rows = RowsToImage.from_num_features(num_features, channels=settings.channels, height=settings.height)
    network = build_image_backbone(settings, rows)
    return ImageClassifier(
        rows,
        network,
        pool,
        linear_head(pooled_size(pool, network.output_size), num_classes),
        dropout=settings.dropout,
    )


def build_image_backbone(settings: ImageSettings, rows_to_image: RowsToImage) -> ImageBackbone:
    if isinstance(settings, VisionTransformerSettings):
        return VisionTransformer.from_settings(settings, rows_to_image)
    return ConvolutionalImageBackbone.from_settings(settings, rows_to_image)
