"""The Vision Transformer against transformers' with the same weights, and against its published size."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from transformers import ViTConfig, ViTModel

from seqlab.attention.recording import record_alignments
from seqlab.blocks.image import RowsToImage
from seqlab.core.errors import ArgumentError
from seqlab.models.classifier import build_classifier
from seqlab.models.images.classifier import ImageClassifier
from seqlab.models.images.vision_transformer import VisionTransformer
from seqlab.models.settings.images import VisionTransformerSettings

TINY = VisionTransformerSettings(
    layers=2,
    hidden_size=12,
    heads=3,
    feedforward_size=20,
    patch_size=2,
    channels=3,
    activation="gelu",
    norm_eps=1e-12,
    dropout=0.0,
)


def build(
    settings: VisionTransformerSettings = TINY, *, height: int = 4, width: int = 6
) -> VisionTransformer:
    torch.manual_seed(7)
    network = VisionTransformer.from_settings(
        settings, RowsToImage(height=height, width=width, channels=settings.channels)
    )
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.3)
    return network.eval()


def twin_of(network: VisionTransformer, *, height: int, width: int) -> ViTModel:
    """transformers' model with our weights."""
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
    twin = ViTModel(
        ViTConfig(**sizes, image_size=(height, width), patch_size=2, num_channels=3), add_pooling_layer=False
    )
    ours = network.state_dict()
    theirs = {
        "embeddings.cls_token": ours["class_token.token"].view(1, 1, -1),
        "embeddings.position_embeddings": ours["backbone.positions.table"].unsqueeze(0),
        "embeddings.patch_embeddings.projection.weight": ours["patches.project.weight"].view(12, 3, 2, 2),
        "embeddings.patch_embeddings.projection.bias": ours["patches.project.bias"],
        "layernorm.weight": ours["backbone.last_norm.weight"],
        "layernorm.bias": ours["backbone.last_norm.bias"],
    }
    names = {
        "attention.o_proj": "attention.output",
        "layernorm_before": "attention_residual.norm",
        "layernorm_after": "feed_forward_residual.norm",
        "mlp.fc1": "feed_forward.expand",
        "mlp.fc2": "feed_forward.contract",
    }
    for depth in range(2):
        for kind in ("weight", "bias"):
            theirs |= {
                f"layers.{depth}.{their}.{kind}": ours[f"backbone.layers.{depth}.{our}.{kind}"]
                for their, our in names.items()
            }
            parts = ours[f"backbone.layers.{depth}.attention.qkv.{kind}"].chunk(3)
            theirs |= {
                f"layers.{depth}.attention.{name}_proj.{kind}": part
                for name, part in zip("qkv", parts, strict=True)
            }
    twin.load_state_dict(theirs)
    return twin.eval()


def pictures(batch: int = 3, *, channels: int = 3, height: int = 4, width: int = 6) -> Tensor:
    return torch.randn(batch, channels, height, width, generator=torch.Generator().manual_seed(3))


@pytest.mark.spec(174)
@pytest.mark.parametrize(("height", "width"), [(4, 6), (8, 8)])
def test_it_equals_transformers_with_the_same_weights(height: int, width: int) -> None:
    network = build(height=height, width=width)
    inputs = pictures(height=height, width=width).requires_grad_()
    found, expected = network(inputs), twin_of(network, height=height, width=width)(inputs).last_hidden_state
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    weights = torch.randn_like(expected)
    torch.testing.assert_close(
        *(torch.autograd.grad((out * weights).sum(), inputs)[0] for out in (found, expected)),
        rtol=1e-4,
        atol=1e-4,
    )


@pytest.mark.spec(174)
def test_the_base_model_of_the_paper_has_its_number_of_parameters() -> None:
    base = VisionTransformerSettings(layers=12, hidden_size=768, heads=12, patch_size=16, channels=3)
    with torch.device("meta"):
        model = build_classifier(base, embedding=nn.Identity, num_classes=1000, num_features=224 * 3)
    assert sum(parameter.numel() for parameter in model.parameters()) == 86_567_656


def test_a_picture_in_a_batch_gives_what_it_gives_alone() -> None:
    network = build()
    inputs = pictures()
    together = network(inputs)
    for row in range(3):
        torch.testing.assert_close(network(inputs[row : row + 1])[0], together[row], rtol=0, atol=1e-5)


def test_without_positions_the_class_token_does_not_know_where_a_patch_is() -> None:
    swapped = pictures()
    swapped[:, :, :2, :2], swapped[:, :, 2:, 4:] = pictures()[:, :, 2:, 4:], pictures()[:, :, :2, :2]
    for positions, knows in (("none", False), ("learned", True)):
        network = build(TINY.model_copy(update={"positions": positions}))
        difference = (network(pictures())[:, 0] - network(swapped)[:, 0]).abs().max()
        assert bool(difference > 1e-3) == knows


@pytest.mark.parametrize("pooling", ["first", "mean", "max", "queries"])
def test_a_class_token_is_there_only_when_it_is_read(pooling: str) -> None:
    settings = TINY.model_copy(update={"pooling": pooling})
    network = build(settings)
    assert network(pictures()).shape == (3, 6 + (pooling == "first"), 12)
    rows = torch.randn(2, 6, 12)
    model = build_classifier(
        settings.model_copy(update={"height": 6}), embedding=nn.Identity, num_classes=5, num_features=12
    )
    assert model(rows, torch.ones(2, 6, dtype=torch.bool)).shape == (2, 5)


def test_gradients_reach_every_parameter() -> None:
    model = build_classifier(TINY, embedding=nn.Identity, num_classes=5, num_features=12)
    assert isinstance(model, ImageClassifier)
    nn.init.normal_(model.head.weight)
    steps = torch.randn(3, 4, 12)
    (model(steps, torch.ones(3, 4, dtype=torch.bool)) * torch.randn(3, 5)).sum().backward()
    assert [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ] == []


def test_where_the_class_token_looks_is_seen_for_every_head() -> None:
    network = build()
    with record_alignments(network) as found:
        network(pictures())
    assert list(found) == ["backbone.layers.0.attention", "backbone.layers.1.attention"]
    alignment = found["backbone.layers.0.attention"][0]
    assert alignment.shape == (3, 3, 7, 7)
    torch.testing.assert_close(alignment.sum(dim=-1), torch.ones(3, 3, 7))


def test_patches_that_do_not_fit_are_refused_before_training() -> None:
    with pytest.raises(ArgumentError) as caught:
        build_classifier(
            VisionTransformerSettings(patch_size=3), embedding=nn.Identity, num_classes=10, num_features=8
        )
    error = caught.value
    assert (error.argument, error.value, error.allowed) == ("patch_size", 3, "1, 2, 4, 8")
    assert "8 × 8 pixels" in error.what
