"""What every network for pictures is: a picture in, features of its regions out."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.image import Picture


class PictureNetwork(nn.Module, ABC):
    """Features of regions, which a classifier pools and a captioner looks at one by one. Pictures of a batch never see each other."""

    output_size: int

    @abstractmethod
    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of regions that a picture of this size has."""

    @abstractmethod
    def forward(self, picture: Picture) -> Float[Tensor, "batch regions output"]: ...
