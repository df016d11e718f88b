"""Convolutions over an image: each pixel sees its neighbors."""

from __future__ import annotations

from math import gcd

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.image import Images

GROUPS = 8


class ConvolutionStage(nn.Module):
    """x' = relu(norm(K₁ * x)),  x'' = dropout(x' + relu(norm(K₂ * x'))), with kernels of 3 by 3.

    The norm is over the pixels and a group of channels of one image. Unlike batch normalization, it does not
    make the result of an image depend on the rest of the batch. Paper: Wu & He 2018, "Group Normalization",
    arXiv:1803.08494.
    """

    def __init__(self, input_channels: int, hidden_size: int, *, dropout: float) -> None:
        super().__init__()
        self.first = _convolution(input_channels, hidden_size)
        self.second = _convolution(hidden_size, hidden_size)
        self.dropout = Dropout(dropout)

    def forward(self, images: Images) -> Float[Tensor, "batch hidden height width"]:
        features = self.first(images)
        return self.dropout(features + self.second(features))


def _convolution(input_channels: int, hidden_size: int) -> nn.Sequential:
    kernels = nn.Conv2d(
        input_channels, hidden_size, kernel_size=3, padding=1, bias=False
    )  # the norm has a bias
    nn.init.kaiming_normal_(kernels.weight, nonlinearity="relu")
    return nn.Sequential(kernels, nn.GroupNorm(gcd(GROUPS, hidden_size), hidden_size), nn.ReLU())
