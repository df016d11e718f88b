"""The Transformer body against torch's encoder, and what positions change."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.settings.transformer import TransformerSettings
from tests.blocks.torch_twin import as_torch_names
from tests.models.settings_to_try import build, ragged

LENGTHS = [4, 9, 1]


@pytest.mark.spec(157, 166)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_six_layers_equal_torch_with_the_same_weights(norm: Literal["pre", "post"], causal: bool) -> None:
    settings = TransformerSettings(
        layers=6,
        hidden_size=8,
        heads=2,
        feedforward_size=12,
        norm=norm,
        norm_eps=1e-4,
        positions="none",
        activation="relu",
    )
    backbone = build(settings, causal=causal)
    layer = nn.TransformerEncoderLayer(
        8,
        2,
        12,
        dropout=0.0,
        activation=F.relu,
        layer_norm_eps=1e-4,
        batch_first=True,
        norm_first=norm == "pre",
    )
    twin = nn.TransformerEncoder(
        layer, 6, norm=nn.LayerNorm(8, eps=1e-4) if norm == "pre" else None, enable_nested_tensor=False
    ).double()
    twin.load_state_dict(as_torch_names(backbone.state_dict()))
    steps, is_token = ragged(LENGTHS, 8)
    forbidden = torch.ones(9, 9, dtype=torch.bool).triu(1) if causal else None
    expected = twin(steps, mask=forbidden, src_key_padding_mask=~is_token)
    torch.testing.assert_close(backbone(steps, is_token)[0][is_token], expected[is_token], rtol=0, atol=1e-10)


@pytest.mark.spec(145)
@pytest.mark.parametrize(
    ("positions", "is_a_set"), [("none", True), ("sinusoidal", False), ("learned", False)]
)
def test_without_positions_the_steps_are_a_set(
    positions: Literal["none", "sinusoidal", "learned"], is_a_set: bool
) -> None:
    backbone = build(
        TransformerSettings(hidden_size=6, heads=2, positions=positions, max_positions=9), causal=False
    )
    steps, is_token = ragged([9, 9], 6)
    order = torch.tensor([3, 8, 0, 5, 1, 7, 2, 6, 4])
    outputs, _ = backbone(steps, is_token)
    shuffled, _ = backbone(steps[:, order], is_token)
    equivariant = torch.allclose(shuffled, outputs[:, order], rtol=0, atol=1e-12)
    invariant = torch.allclose(shuffled.mean(dim=1), outputs.mean(dim=1), rtol=0, atol=1e-12)
    assert (equivariant, invariant) == (is_a_set, is_a_set)


@pytest.mark.spec(32)
def test_a_word_has_one_embedding_and_a_new_feature_vector_in_every_context() -> None:
    torch.manual_seed(1)
    embed = TokenEmbedding(9, 6, pad_id=None).double()
    backbone = build(TransformerSettings(hidden_size=6, heads=2), causal=False)
    sentences = torch.tensor([[3, 5, 7], [4, 5, 2]])  # token 5 stands in the middle of both
    embedded = embed(sentences)
    assert torch.equal(embedded[0, 1], embedded[1, 1])
    contextual, _ = backbone(embedded, torch.ones_like(sentences, dtype=torch.bool))
    assert (contextual[0, 1] - contextual[1, 1]).abs().max() > 1e-2


def test_dropout_of_the_alignment_is_its_own_setting() -> None:
    calm = build(TransformerSettings(hidden_size=6, heads=2, dropout=0.0), causal=False).train()
    wild = build(
        TransformerSettings(hidden_size=6, heads=2, dropout=0.0, attention_dropout=0.5), causal=False
    ).train()
    steps, is_token = ragged([9, 9], 6)
    assert torch.equal(calm(steps, is_token)[0], calm(steps, is_token)[0])
    assert not torch.equal(wild(steps, is_token)[0], wild(steps, is_token)[0])


@pytest.mark.parametrize("lengths", [[9, 9, 9], LENGTHS])
@pytest.mark.parametrize("causal", [True, False])
def test_attention_takes_the_flash_kernel_with_and_without_padding(lengths: list[int], causal: bool) -> None:
    backbone = build(TransformerSettings(hidden_size=6, heads=2), causal=causal).train()
    steps, is_token = ragged(lengths, 6)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        backbone(steps, is_token)[0].sum().backward()
    ran = {event.key for event in profile.key_averages()}
    assert {
        "aten::_scaled_dot_product_flash_attention_for_cpu",
        "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
    } <= ran
    assert "aten::_scaled_dot_product_attention_math" not in ran
