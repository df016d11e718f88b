"""The interface of image networks: map an image to features of its regions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.image import Images


class ImageBackbone(nn.Module, ABC):
    """Computes features of regions, which a classifier pools and a captioner attends to.

    Images of a batch do not influence each other.
    """

    output_size: int

    @abstractmethod
    def grid(self, height: int, width: int) -> tuple[int, int]:
        """The number of rows and columns of regions for an image of this size."""

    @abstractmethod
    def forward(self, images: Images) -> Float[Tensor, "batch regions output"]: ...
