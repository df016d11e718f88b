"""Vision Transformers: patches of an image are the steps of a Transformer."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.class_token import ClassToken
from seqlab.blocks.image import Images, RowsToImage
from seqlab.blocks.patches import PatchEmbedding, count_patches
from seqlab.models.images.base import ImageBackbone
from seqlab.models.settings.images import VisionTransformerSettings
from seqlab.models.transformer import TransformerBackbone


class VisionTransformer(ImageBackbone):
    """features = transformer(class token, W patch 1 + b, W patch 2 + b, …).

    Apart from the patches nothing here is specific to images: the position embeddings learn which patches are
    neighbors. Paper: Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words: Transformers for Image
    Recognition at Scale", arXiv:2010.11929.

    class_token: the module that adds a class token before the patches, or an identity if the patches are
    pooled.
    """

    def __init__(
        self, patches: PatchEmbedding, class_token: nn.Module, backbone: TransformerBackbone
    ) -> None:
        super().__init__()
        self.patches = patches
        self.class_token = class_token
        self.backbone = backbone
        self.output_size = backbone.output_size

    @classmethod
    def from_settings(cls, settings: VisionTransformerSettings, rows_to_image: RowsToImage) -> Self:
        rows, columns = count_patches(rows_to_image.height, rows_to_image.width, settings.patch_size)
        has_token = settings.pooling == "first"
        num_positions = settings.max_positions or rows * columns + int(has_token)
        return cls(
            PatchEmbedding(
                settings.hidden_size, patch_size=settings.patch_size, channels=rows_to_image.channels
            ),
            ClassToken(settings.hidden_size) if has_token else nn.Identity(),
            TransformerBackbone.from_settings(
                settings.model_copy(update={"max_positions": num_positions}), causal=False
            ),
        )

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of patches."""
        return count_patches(height, width, self.patches.patch_size)

    def forward(self, images: Images) -> Float[Tensor, "batch regions output"]:
        """The class token, if there is one, then the patches row by row."""
        steps = self.class_token(self.patches(images))  # (batch, regions, hidden)
        features, _ = self.backbone(steps, torch.ones(steps.shape[:2], dtype=torch.bool, device=steps.device))
        return features
