"""Convolutional networks for pictures: no picture changes another one's result, and the non-local block sees
what kernels do not.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from seqlab.attention.base import score_functions
from seqlab.blocks.image import RowsToImage
from seqlab.core.settings import choices_of
from seqlab.models.classifier import build_classifier
from seqlab.models.images.convolutional import ConvolutionalImageBackbone
from seqlab.models.settings.images import ImageConvolutionalSettings

SMALL = ImageConvolutionalSettings(hidden_size=6, layers=2)
NON_LOCAL = SMALL.model_copy(update={"non_local": True})


def build(
    settings: ImageConvolutionalSettings, *, height: int = 7, width: int = 5
) -> ConvolutionalImageBackbone:
    torch.manual_seed(2)
    network = ConvolutionalImageBackbone.from_settings(
        settings, RowsToImage(height=height, width=width, channels=settings.channels)
    )
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.4)  # the block's last matrix is zero at first
    return network.double().eval()


def pictures(batch: int, height: int = 7, width: int = 5) -> Tensor:
    return torch.randn(
        batch, 1, height, width, generator=torch.Generator().manual_seed(3), dtype=torch.float64
    )


@pytest.mark.parametrize("settings", [SMALL, NON_LOCAL], ids=["plain", "non-local"])
@pytest.mark.parametrize("training", [False, True])
def test_neighbours_in_a_batch_change_nothing(settings: ImageConvolutionalSettings, training: bool) -> None:
    network = build(settings.model_copy(update={"dropout": 0.0})).train(training)
    inputs = pictures(4)
    together = network(inputs)
    for row in range(4):
        torch.testing.assert_close(network(inputs[row : row + 1])[0], together[row], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("layers", "grid"), [(1, (7, 5)), (2, (4, 3)), (3, (2, 2)), (5, (1, 1))])
def test_pictures_of_any_size_are_halved_into_regions(layers: int, grid: tuple[int, int]) -> None:
    network = build(SMALL.model_copy(update={"layers": layers}))
    assert network.grid(7, 5) == grid
    assert network(pictures(2)).shape == (2, grid[0] * grid[1], 6)


@pytest.mark.spec(138)
def test_far_places_meet_only_through_the_non_local_block() -> None:
    """One stage sees two pixels to each side; norms are left out, for they average over the picture."""
    for settings, meets in ((SMALL, False), (NON_LOCAL, True)):
        network = build(settings.model_copy(update={"layers": 1}), height=9, width=9)
        for name, module in list(network.named_modules()):
            if isinstance(module, nn.GroupNorm):
                parent, _, child = name.rpartition(".")
                setattr(network.get_submodule(parent), child, nn.Identity())
        inputs = pictures(1, 9, 9).requires_grad_()
        (reach,) = torch.autograd.grad(network(inputs)[0, 0].square().sum(), inputs)
        assert bool(reach[0, 0, 8, 8].abs() > 0) == meets
        assert bool((reach[0, 0, :3, :3].abs() > 0).any())
        assert bool((reach[0, 0, 3:, 3:].abs() > 0).any()) == meets


@pytest.mark.spec(138, 127)
@pytest.mark.parametrize("score", score_functions.names())
def test_the_block_takes_any_score_and_starts_without_effect(score: str) -> None:
    settings = NON_LOCAL.model_copy(update={"non_local_score": score})
    pictures_of = RowsToImage(height=7, width=5)
    torch.manual_seed(5)
    fresh = ConvolutionalImageBackbone.from_settings(settings, pictures_of).double().eval()
    plain = ConvolutionalImageBackbone.from_settings(SMALL, pictures_of).double().eval()
    plain.load_state_dict(
        {name: value for name, value in fresh.state_dict().items() if not name.startswith("non_local")}
    )
    torch.testing.assert_close(fresh(pictures(2)), plain(pictures(2)), rtol=0, atol=0)

    trained = build(settings)
    (trained(pictures(2)) * pictures(2).mean()).sum().backward()
    assert [
        name
        for name, parameter in trained.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ] == []
    assert trained.non_local is not None
    assert type(trained.non_local.attention.score) is score_functions.get(score)


def test_every_score_can_be_chosen_by_recipe() -> None:
    annotation = ImageConvolutionalSettings.model_fields["non_local_score"].annotation
    assert choices_of(annotation) == score_functions.names()


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_the_classifier_pools_the_regions(pooling: str) -> None:
    settings = SMALL.model_copy(update={"pooling": pooling, "channels": 2, "height": 7})
    model = build_classifier(settings, embedding=nn.Identity, num_classes=4, num_features=10).double().eval()
    nn.init.normal_(model.head.weight)
    rows = torch.randn(3, 7, 10, dtype=torch.float64)
    regions = model.network(rows.view(3, 7, 5, 2).permute(0, 3, 1, 2))
    pooled = regions.amax(dim=1) if pooling == "max" else regions.mean(dim=1)
    expected = pooled @ model.head.weight.T + model.head.bias
    torch.testing.assert_close(model(rows, torch.ones(3, 7, dtype=torch.bool)), expected, rtol=0, atol=1e-12)
