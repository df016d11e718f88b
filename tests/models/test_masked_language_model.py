"""A network that finds hidden tokens."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import BertConfig, BertForMaskedLM

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.base import backbones
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings
from tests.models.settings_to_try import ALL_STEPS, AnySettings, assert_every_parameter_has_a_gradient

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

VOCABULARY = 11


def build(settings: AnySettings, *, tied: bool = True) -> MaskedLanguageModel:
    torch.manual_seed(3)
    backbone = backbones.get(settings.kind).from_settings(settings, causal=False)
    embed = TokenEmbedding(VOCABULARY, backbone.input_size, pad_id=None)
    model = MaskedLanguageModel(embed, backbone, dropout=settings.dropout, tied=tied)
    for parameter in model.parameters():
        with torch.no_grad():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model.double().eval()


def a_batch() -> tuple[Tensor, Tensor, Tensor]:
    """Tokens of different lengths, and some places to ask about."""
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(0, VOCABULARY, (3, 7), generator=generator)
    is_token = torch.arange(7) < torch.tensor([[7], [4], [5]])
    return tokens, is_token, (torch.rand(3, 7, generator=generator) < 0.5) & is_token


@pytest.mark.parametrize("settings", ALL_STEPS.values(), ids=ALL_STEPS)
def test_logits_at_the_asked_places_are_those_of_asking_everywhere(settings: AnySettings) -> None:
    model = build(settings)
    tokens, is_token, is_target = a_batch()
    everywhere = torch.zeros(3, 7, VOCABULARY, dtype=torch.float64)
    everywhere[is_token] = model(tokens, is_token, is_token)
    torch.testing.assert_close(model(tokens, is_token, is_target), everywhere[is_target], rtol=0, atol=1e-12)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("settings", ALL_STEPS.values(), ids=ALL_STEPS)
def test_gradients_reach_every_parameter(settings: AnySettings, tied: bool) -> None:
    model = build(settings, tied=tied).train()
    tokens, is_token, is_target = a_batch()
    logits = model(tokens, is_token, is_target)
    F.cross_entropy(logits, tokens[is_target]).backward()
    assert_every_parameter_has_a_gradient(model)


@pytest.mark.spec(170)
@pytest.mark.parametrize(
    "settings",
    [
        TransformerSettings(hidden_size=6, heads=2, layers=1, dropout=0.0),
        RecurrentSettings(hidden_size=5, bidirectional=True, dropout=0.0),
        ConvolutionalSettings(hidden_size=6, layers=2, dropout=0.0),
    ],
    ids=lambda settings: settings.kind,
)
def test_both_sides_of_a_gap_matter_and_a_one_directional_reader_sees_the_left_one_only(
    settings: AnySettings,
) -> None:
    tokens = torch.arange(7).unsqueeze(0)
    is_token, is_target = torch.ones(1, 7, dtype=torch.bool), torch.arange(7).unsqueeze(0) == 3
    model = build(settings)
    before = model(tokens, is_token, is_target)
    for place in (2, 4):
        changed = tokens.clone()
        changed[0, place] = 9
        assert not torch.allclose(model(changed, is_token, is_target), before)
    one_way = build(RecurrentSettings(hidden_size=5, dropout=0.0))
    changed = tokens.clone()
    changed[0, 4:] = 9
    assert torch.equal(one_way(changed, is_token, is_target), one_way(tokens, is_token, is_target))


@pytest.mark.spec(170)
def test_with_the_weights_of_berts_model_the_logits_are_berts() -> None:
    settings = TransformerSettings(
        hidden_size=12,
        heads=3,
        layers=2,
        feedforward_size=20,
        norm="post",
        norm_eps=1e-12,
        positions="learned",
        max_positions=9,
        activation="gelu",
        embedding_norm=True,
        dropout=0.0,
    )
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=20,
        max_position_embeddings=9,
    )
    torch.manual_seed(1)
    theirs = BertForMaskedLM(config).double().eval()
    for parameter in theirs.parameters():
        with torch.no_grad():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    ours = build(settings)
    ours.load_state_dict(in_our_names(theirs.state_dict(), ours.state_dict()))
    tokens, is_token, is_target = a_batch()
    expected = theirs(tokens, attention_mask=is_token.long()).logits[is_target]
    torch.testing.assert_close(ours(tokens, is_token, is_target), expected, rtol=0, atol=1e-10)


def in_our_names(theirs: dict[str, Tensor], ours: dict[str, Tensor]) -> dict[str, Tensor]:
    """BERT's weights under our names; the row of the first token type belongs to every token, so to its
    position.
    """
    embeddings = "bert.embeddings."
    found = {
        "embed.weight": theirs[f"{embeddings}word_embeddings.weight"],
        "backbone.positions.table": theirs[f"{embeddings}position_embeddings.weight"]
        + theirs[f"{embeddings}token_type_embeddings.weight"][0],
        "backbone.first_norm.weight": theirs[f"{embeddings}LayerNorm.weight"],
        "backbone.first_norm.bias": theirs[f"{embeddings}LayerNorm.bias"],
        "bias": theirs["cls.predictions.bias"],
    }
    for part in ("weight", "bias"):
        found[f"transform.{part}"] = theirs[f"cls.predictions.transform.dense.{part}"]
        found[f"norm.{part}"] = theirs[f"cls.predictions.transform.LayerNorm.{part}"]
        for number in range(2):
            layer, own = f"bert.encoder.layer.{number}.", f"backbone.layers.{number}."
            qkv = [theirs[f"{layer}attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            found[f"{own}attention.qkv.{part}"] = torch.cat(qkv)
            found[f"{own}attention.output.{part}"] = theirs[f"{layer}attention.output.dense.{part}"]
            found[f"{own}attention_residual.norm.{part}"] = theirs[
                f"{layer}attention.output.LayerNorm.{part}"
            ]
            found[f"{own}feed_forward.expand.{part}"] = theirs[f"{layer}intermediate.dense.{part}"]
            found[f"{own}feed_forward.contract.{part}"] = theirs[f"{layer}output.dense.{part}"]
            found[f"{own}feed_forward_residual.norm.{part}"] = theirs[f"{layer}output.LayerNorm.{part}"]
    assert set(found) == set(ours)
    return found
