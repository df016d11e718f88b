"""Convert the steps of a sequence to the rows of an image."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.core.errors import ArgumentError, UsageError

Images = Float[Tensor, "batch channels height width"]


class RowsToImage(nn.Module):
    """Step t is row t, from left to right, with interleaved channels: r g b r g b …

    Images must not be padded, because a convolution would see the padding: all images must have the height
    for which the network was built.
    """

    def __init__(self, *, height: int, width: int, channels: int = 1) -> None:
        super().__init__()
        self.height, self.width, self.channels = height, width, channels

    @classmethod
    def from_num_features(cls, num_features: int, *, channels: int, height: int) -> RowsToImage:
        """num_features: numbers in one step. height: 0 means square images."""
        if num_features == 0:
            raise ArgumentError(
                "num_features",
                num_features,
                "an image network reads numeric steps, but here each step is a token.",
                cure="For text, use kind=recurrent, kind=convolutional or kind=transformer",
            )
        if num_features % channels:
            raise ArgumentError(
                "channels",
                channels,
                f"a row of {num_features} numbers cannot be divided into pixels of {channels} channels.",
                allowed=", ".join(map(str, divisors(num_features)[:8])),
            )
        width = num_features // channels
        return cls(height=height or width, width=width, channels=channels)

    def forward(
        self, steps: Float[Tensor, "batch time features"], is_token: Bool[Tensor, "batch time"]
    ) -> Images:
        if not bool(is_token.all()):
            raise UsageError(
                f"the batch mixes images of {int(is_token.sum(dim=1).min())} to {is_token.shape[1]} rows;"
                f" this network reads {self.height} rows.",
                cure="Give all images the same number of rows, without padding.",
            )
        if steps.shape[1:] != (self.height, self.width * self.channels):
            raise ArgumentError(
                "height",
                self.height,
                f"the image has {steps.shape[1]} rows of {steps.shape[2]} numbers; this network reads"
                f" {self.height} rows of {self.width * self.channels}.",
                cure=(
                    f"Resize the image to {self.height} rows, or train with height={steps.shape[1]}"
                    if steps.shape[1] != self.height
                    else ""
                ),
            )
        return steps.unflatten(2, (self.width, self.channels)).permute(
            0, 3, 1, 2
        )  # (batch, channels, height, width)

    def extra_repr(self) -> str:
        return f"height={self.height}, width={self.width}, channels={self.channels}"


def divisors(number: int) -> list[int]:
    """
    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    return [size for size in range(1, number + 1) if number % size == 0]
