"""Split an image into square patches, each of which becomes one step."""

from __future__ import annotations

from math import gcd

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.blocks.image import Images, divisors
from seqlab.core.errors import ArgumentError


class PatchEmbedding(nn.Module):
    """step = W flatten(patch) + b, for every patch of p by p pixels, row by row.

    The same as a convolution with kernel p and stride p, whose kernels are the rows of W. Paper: Dosovitskiy
    et al. 2021, "An Image is Worth 16x16 Words", arXiv:2010.11929, section 3.1, equation 1.
    """

    def __init__(self, hidden_size: int, *, patch_size: int, channels: int = 1) -> None:
        super().__init__()
        self.patch_size = patch_size
        self.project = nn.Linear(channels * patch_size**2, hidden_size)
        nn.init.xavier_uniform_(self.project.weight)
        nn.init.zeros_(self.project.bias)

    def forward(self, images: Images) -> Float[Tensor, "batch patches hidden"]:
        return self.project(patchify(images, self.patch_size))


def patchify(images: Images, patch_size: int) -> Float[Tensor, "batch patches pixels"]:
    """The patches row by row, with the pixels of a patch ordered by channel, row, column."""
    rows, columns = count_patches(images.shape[2], images.shape[3], patch_size)
    patches = images.unflatten(3, (columns, patch_size)).unflatten(
        2, (rows, patch_size)
    )  # (batch, channels, rows, p, columns, p)
    return patches.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def count_patches(height: int, width: int, patch_size: int) -> tuple[int, int]:
    """The number of rows and columns of patches in an image.

    >>> count_patches(8, 12, 4)
    (2, 3)
    """
    if height % patch_size or width % patch_size:
        fitting = divisors(gcd(height, width))
        raise ArgumentError(
            "patch_size",
            patch_size,
            f"an image of {height} × {width} pixels cannot be divided into patches of {patch_size} ×"
            f" {patch_size}.",
            allowed=", ".join(map(str, fitting)),
        )
    return height // patch_size, width // patch_size
