"""What every network for images is: an image in, features of its regions out."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.image import Images


class ImageBackbone(nn.Module, ABC):
    """Features of regions, which a classifier pools and a captioner looks at one by one.

    Images of a batch never see each other.
    """

    output_size: int

    @abstractmethod
    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of regions that an image of this size has."""

    @abstractmethod
    def forward(self, images: Images) -> Float[Tensor, "batch regions output"]: ...
