"""Rows of numbers become pictures, and pictures patches: pixel by pixel against plain loops and against a
convolution.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from seqlab.blocks.class_token import ClassToken
from seqlab.blocks.image import RowsToImage
from seqlab.blocks.image_convolution import ConvolutionStage
from seqlab.blocks.patches import PatchEmbedding, patchify
from seqlab.core.errors import ArgumentError, UsageError


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(4), dtype=torch.float64)


def all_real(steps: Tensor) -> Tensor:
    return torch.ones(steps.shape[:2], dtype=torch.bool)


@pytest.mark.parametrize(("height", "width", "channels"), [(5, 3, 1), (3, 4, 3), (7, 2, 2)])
def test_every_pixel_stands_where_its_row_says(height: int, width: int, channels: int) -> None:
    steps = random(2, height, width * channels)
    pictures = RowsToImage(height=height, width=width, channels=channels)(steps, all_real(steps))
    assert pictures.shape == (2, channels, height, width)
    for row in range(height):
        for column in range(width):
            for channel in range(channels):
                assert torch.equal(
                    pictures[:, channel, row, column], steps[:, row, column * channels + channel]
                )


def test_a_height_of_zero_is_a_square() -> None:
    rows = RowsToImage.from_num_features(12, channels=3, height=0)
    assert (rows.height, rows.width, rows.channels) == (4, 4, 3)
    assert RowsToImage.from_num_features(12, channels=3, height=9).height == 9


def test_pictures_of_different_heights_in_one_batch_are_refused() -> None:
    is_token = torch.arange(6) < torch.tensor([6, 4])[:, None]
    with pytest.raises(UsageError) as caught:
        RowsToImage(height=6, width=5)(random(2, 6, 5), is_token)
    assert "4 to 6 rows" in caught.value.what
    assert "reads 6 rows" in caught.value.what
    assert "padding" in caught.value.cure


def test_a_height_for_which_the_network_was_not_made_is_refused() -> None:
    steps = random(2, 6, 5)
    with pytest.raises(ArgumentError) as caught:
        RowsToImage(height=5, width=5)(steps, all_real(steps))
    assert (caught.value.argument, caught.value.value) == ("height", 5)
    assert "6 rows of 5 numbers" in caught.value.what
    assert "height=6" in caught.value.cure


def test_channels_that_do_not_fit_and_text_are_refused() -> None:
    with pytest.raises(ArgumentError) as caught:
        RowsToImage.from_num_features(8, channels=3, height=0)
    error = caught.value
    assert (error.argument, error.value, error.allowed) == ("channels", 3, "1, 2, 4, 8")
    assert "a row of 8 numbers" in error.what
    with pytest.raises(ArgumentError, match="token"):
        RowsToImage.from_num_features(0, channels=1, height=0)


@pytest.mark.spec(174)
@pytest.mark.parametrize(
    ("height", "width", "patch", "channels"), [(6, 9, 3, 2), (4, 6, 2, 1), (5, 5, 1, 3), (7, 7, 7, 1)]
)
def test_one_product_for_every_patch_is_a_convolution_with_that_stride(
    height: int, width: int, patch: int, channels: int
) -> None:
    layer = PatchEmbedding(5, patch_size=patch, channels=channels).double()
    torch.nn.init.normal_(layer.project.bias)
    picture = random(2, channels, height, width)
    kernels = layer.project.weight.view(5, channels, patch, patch)
    expected = (
        F.conv2d(picture, kernels, layer.project.bias, stride=patch).flatten(2).transpose(1, 2)
    )  # (batch, patches, 5)
    torch.testing.assert_close(layer(picture), expected, rtol=0, atol=1e-12)


def test_patches_come_row_by_row() -> None:
    picture = torch.arange(4 * 6).view(1, 1, 4, 6).float()
    assert patchify(picture, 2)[0].tolist() == [
        [0, 1, 6, 7],
        [2, 3, 8, 9],
        [4, 5, 10, 11],
        [12, 13, 18, 19],
        [14, 15, 20, 21],
        [16, 17, 22, 23],
    ]


def test_patches_that_do_not_fit_are_refused_with_those_that_do() -> None:
    with pytest.raises(ArgumentError) as caught:
        patchify(random(1, 1, 8, 12), 3)
    error = caught.value
    assert (error.argument, error.value, error.allowed) == ("patch_size", 3, "1, 2, 4")
    assert "8 × 12 pixels" in error.what


def test_the_class_token_stands_first_in_every_sequence_and_learns_from_all() -> None:
    token = ClassToken(3).double()
    torch.nn.init.normal_(token.token)
    steps = random(4, 5, 3)
    longer = token(steps)
    assert torch.equal(longer[:, 1:], steps)
    assert all(torch.equal(first, token.token) for first in longer[:, 0])
    (longer[:, 0] * torch.tensor([1.0, 2.0, 3.0, 4.0])[:, None]).sum().backward()
    assert torch.equal(token.token.grad, torch.full((3,), 10.0, dtype=torch.float64))


def test_a_stage_follows_its_equation() -> None:
    stage = ConvolutionStage(3, 4, dropout=0.3).double().eval()
    for parameter in stage.parameters():
        torch.nn.init.normal_(parameter)
    picture = random(2, 3, 5, 7)

    def layer(features: Tensor, number: str) -> Tensor:
        weights = dict(stage.named_parameters())
        sums = F.conv2d(features, weights[f"{number}.0.weight"], padding=1)
        normal = (sums - sums.mean(dim=(2, 3), keepdim=True)) / (
            sums.var(dim=(2, 3), keepdim=True, unbiased=False) + 1e-5
        ).sqrt()
        return (
            normal * weights[f"{number}.1.weight"][:, None, None] + weights[f"{number}.1.bias"][:, None, None]
        ).clamp(min=0)

    first = layer(picture, "first")  # four channels in four groups: each is normalised alone
    torch.testing.assert_close(stage(picture), first + layer(first, "second"), rtol=0, atol=1e-10)
