"""Convolutional networks for images: small kernels, group normalization, and an optional non-local block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.base import score_functions
from seqlab.attention.non_local import NonLocalBlock
from seqlab.blocks.image import Images, RowsToImage
from seqlab.blocks.image_convolution import ConvolutionStage
from seqlab.models.images.base import ImageBackbone
from seqlab.models.settings.images import ImageConvolutionalSettings


class ConvolutionalImageBackbone(ImageBackbone):
    """Stages of convolutions with 2x2 max-pooling between two stages.

    A convolution combines neighbors only, so distant parts of an image first interact in late stages, where
    little detail is left. `non_local` is a block after the first stage in which every position attends to
    every other one; None omits it. Paper: Wang et al. 2018, "Non-local Neural Networks", arXiv:1711.07971.
    """

    def __init__(
        self, stages: Sequence[ConvolutionStage], *, output_size: int, non_local: NonLocalBlock | None = None
    ) -> None:
        super().__init__()
        self.stages = nn.ModuleList(stages)
        self.non_local = non_local
        self.output_size = output_size

    @classmethod
    def from_settings(cls, settings: ImageConvolutionalSettings, rows_to_image: RowsToImage) -> Self:
        size = settings.hidden_size
        stages = [
            ConvolutionStage(size if depth else rows_to_image.channels, size, dropout=settings.dropout)
            for depth in range(settings.layers)
        ]
        return cls(
            stages, output_size=size, non_local=_build_non_local(settings) if settings.non_local else None
        )

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """The number of rows and columns of regions for an image of this size."""
        for _ in range(len(self.stages) - 1):
            height, width = _halved(height), _halved(width)
        return height, width

    def forward(self, images: Images) -> Float[Tensor, "batch regions output"]:
        """The regions row by row."""
        for depth, stage in enumerate(self.stages):
            if depth:
                images = F.max_pool2d(images, 2, ceil_mode=True)  # (batch, hidden, height / 2, width / 2)
            images = stage(images)
            if depth == 0 and self.non_local is not None:
                images = self.non_local(images.movedim(1, -1)).movedim(-1, 1)  # channels last
        return images.flatten(2).transpose(1, 2)


def _halved(length: int) -> int:
    return (length + 1) // 2


def _build_non_local(settings: ImageConvolutionalSettings) -> NonLocalBlock:
    inner_size = max(1, settings.hidden_size // 2)
    score = score_functions.get(settings.non_local_score)(inner_size, inner_size)
    return NonLocalBlock(settings.hidden_size, inner_size=inner_size, score=score)
