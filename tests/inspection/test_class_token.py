from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from seqlab.blocks.image import RowsToImage
from seqlab.core.errors import UsageError
from seqlab.inspection.class_token import class_token_attention
from seqlab.models.images.vision_transformer import VisionTransformer
from seqlab.models.settings.images import VisionTransformerSettings

SMALL = VisionTransformerSettings(layers=2, hidden_size=6, heads=3, patch_size=2, positions="none")


@torch.no_grad()
def test_the_looks_of_the_first_layer_follow_from_its_weights() -> None:
    torch.manual_seed(3)
    network = VisionTransformer.from_settings(SMALL, RowsToImage(height=4, width=6)).double().eval()
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.5)
    pictures = torch.randn(2, 1, 4, 6, dtype=torch.float64)
    looks = class_token_attention(network, pictures)
    assert looks.shape == (2, 2, 3, 2, 3)

    layer = network.backbone.layers[0]
    steps = layer.attention_residual.norm(
        torch.cat([network.class_token.token.expand(2, 1, -1), network.patches(pictures)], dim=1)
    )
    queries, keys, _ = layer.attention.qkv(steps).chunk(3, dim=-1)
    for head in range(3):
        part = slice(2 * head, 2 * head + 2)
        for row in range(2):
            energies = [
                math.exp(float(queries[row, 0, part] @ key[part]) / math.sqrt(2)) for key in keys[row]
            ]
            expected = torch.tensor(energies[1:], dtype=torch.float64).view(2, 3) / sum(energies)
            torch.testing.assert_close(looks[row, 0, head], expected, rtol=0, atol=1e-12)


def test_a_network_without_a_class_token_is_refused() -> None:
    network = VisionTransformer.from_settings(
        SMALL.model_copy(update={"pooling": "mean"}), RowsToImage(height=4, width=4)
    )
    with pytest.raises(UsageError, match=r"no class token\.\n.*model\.pooling=first"):
        class_token_attention(network, torch.zeros(1, 1, 4, 4))
