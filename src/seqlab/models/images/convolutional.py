"""Convolutional networks for pictures: small kernels, norms that know one picture only, and perhaps a block that sees everything at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.base import scores
from seqlab.attention.non_local import NonLocal
from seqlab.blocks.image import Picture, RowsToPicture
from seqlab.blocks.image_convolution import ConvolutionStage
from seqlab.models.images.base import PictureNetwork
from seqlab.models.settings import ImageConvolutionalSettings


class ImageConvolutional(PictureNetwork):
    """Stages of convolutions; between two stages the picture is halved by taking the largest of each 2 by 2 pixels.

    A convolution joins neighbours only, so that two far parts of a picture first meet in late stages, where little is left of their
    details. `non_local` is a block after the first stage in which every place looks at every other one; None has none.
    Paper: Wang et al. 2018, "Non-local Neural Networks", arXiv:1711.07971.
    """

    def __init__(self, stages: Sequence[ConvolutionStage], *, output_size: int, non_local: NonLocal | None = None) -> None:
        super().__init__()
        self.stages = nn.ModuleList(stages)
        self.non_local = non_local
        self.output_size = output_size

    @classmethod
    def build(cls, settings: ImageConvolutionalSettings, pictures: RowsToPicture) -> Self:
        size = settings.hidden_size
        stages = [ConvolutionStage(size if depth else pictures.channels, size, dropout=settings.dropout) for depth in range(settings.layers)]
        return cls(stages, output_size=size, non_local=_build_non_local(settings) if settings.non_local else None)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of regions that a picture of this size ends in."""
        for _ in range(len(self.stages) - 1):
            height, width = _halved(height), _halved(width)
        return height, width

    def forward(self, picture: Picture) -> Float[Tensor, "batch regions output"]:
        """The regions row by row."""
        for depth, stage in enumerate(self.stages):
            if depth:
                picture = F.max_pool2d(picture, 2, ceil_mode=True)  # (batch, hidden, height / 2, width / 2)
            picture = stage(picture)
            if depth == 0 and self.non_local is not None:
                picture = self.non_local(picture.movedim(1, -1)).movedim(-1, 1)  # its channels come last
        return picture.flatten(2).transpose(1, 2)


def _halved(length: int) -> int:
    return (length + 1) // 2


def _build_non_local(settings: ImageConvolutionalSettings) -> NonLocal:
    inner_size = max(1, settings.hidden_size // 2)
    score = scores.get(settings.non_local_score)(inner_size, inner_size)
    return NonLocal(settings.hidden_size, inner_size=inner_size, score=score)
