"""A small convolutional network whose regions correspond to squares of the image."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.image import Images
from seqlab.blocks.image_convolution import ConvolutionStage
from seqlab.models.images.base import ImageBackbone
from seqlab.positions.learned import LearnedPositions


class RegionBackbone(ImageBackbone):
    """region = relu(W (max-pooled features of a square of pixels after one stage of convolutions + position
    embedding) + b).

    The stage sees only two pixels beyond a square, so a region describes that part of the image, and
    attention to it is meaningful. Content and position are mixed before the relu, so that even the mean of
    all regions contains some information about positions.
    """

    def __init__(
        self,
        *,
        channels: int,
        hidden_size: int,
        region_pixels: int,
        rows: int,
        columns: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.region_pixels = region_pixels
        self.num_regions = rows * columns
        self.stage = ConvolutionStage(channels, hidden_size, dropout=dropout)
        self.positions = LearnedPositions(hidden_size, max_length=self.num_regions)
        self.mix = nn.Linear(hidden_size, hidden_size)
        self.output_size = hidden_size

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of squares."""
        return height // self.region_pixels, width // self.region_pixels

    def forward(self, images: Images) -> Float[Tensor, "batch regions output"]:
        """The regions row by row."""
        squares = F.max_pool2d(self.stage(images), self.region_pixels)  # (batch, output, rows, columns)
        regions = squares.flatten(2).transpose(1, 2)  # (batch, regions, output)
        return torch.relu(
            self.mix(
                self.positions.add(
                    regions, torch.arange(regions.shape[1], device=regions.device).unsqueeze(0)
                )
            )
        )
