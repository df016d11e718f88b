"""A tagger is a body with a head at every step."""

from __future__ import annotations

import pytest
import torch

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import ArgumentError
from seqlab.models.classifier import build_classifier
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.images import VisionTransformerSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import ModelSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.tagger import Tagger, build_tagger

BODIES: list[ModelSettings] = [
    RecurrentSettings(hidden_size=5, bidirectional=True),
    RecurrentSettings(hidden_size=5, head_size=4),
    ConvolutionalSettings(hidden_size=6, layers=2),
    TransformerSettings(hidden_size=6, heads=2),
    TransformerSettings(hidden_size=8, heads=2, positions="rotary", norm="rezero"),
]


def build(settings: ModelSettings, num_tags: int = 3) -> Tagger:
    torch.manual_seed(0)
    model = build_tagger(
        settings, embedding=lambda size: TokenEmbedding(11, size, pad_id=1), num_tags=num_tags
    )
    assert isinstance(model, Tagger)
    return model.eval()


@pytest.mark.parametrize("settings", BODIES, ids=lambda settings: settings.kind)
@pytest.mark.parametrize("num_tags", [2, 3])
def test_every_step_is_answered_by_the_head_alone(settings: ModelSettings, num_tags: int) -> None:
    model = build(settings, num_tags)
    tokens, is_token = torch.randint(2, 11, (4, 7)), torch.arange(7) < torch.tensor([7, 3, 1, 5])[:, None]
    logits = model(tokens, is_token)
    features, _ = model.backbone(model.embed(tokens), is_token)
    for row, time in ((0, 6), (1, 2), (3, 0)):
        torch.testing.assert_close(logits[row, time], model.head(features[row, time][None])[0])


@pytest.mark.parametrize("settings", BODIES, ids=lambda settings: settings.kind)
def test_padding_and_neighbours_in_the_batch_change_nothing(settings: ModelSettings) -> None:
    model = build(settings)
    tokens = torch.randint(2, 11, (2, 7))
    is_token = torch.arange(7) < torch.tensor([7, 4])[:, None]
    alone = model(tokens[1:, :4], is_token[1:, :4])
    torch.testing.assert_close(model(tokens, is_token)[1:, :4], alone)


def test_the_mistake_of_reading_padding_can_be_had_by_name() -> None:
    model = build(TransformerSettings(hidden_size=6, heads=2, padding_mask=False))
    tokens, is_token = torch.randint(2, 11, (1, 7)), torch.arange(7)[None] < 4
    torch.testing.assert_close(model(tokens, is_token), model(tokens, torch.ones_like(is_token)))


def test_the_parts_are_called_as_in_a_classifier() -> None:
    settings = TransformerSettings(hidden_size=6, heads=2)
    classifier = build_classifier(
        settings, embedding=lambda size: TokenEmbedding(11, size, pad_id=1), num_classes=3
    )
    tagger = build(settings)
    assert {name: value.shape for name, value in tagger.state_dict().items()} == {
        name: value.shape for name, value in classifier.state_dict().items()
    }


def test_a_network_for_pictures_tags_nothing() -> None:
    with pytest.raises(ArgumentError, match=r"^kind='vision_transformer': .* has no steps to tag"):
        build_tagger(
            VisionTransformerSettings(), embedding=lambda size: TokenEmbedding(11, size, pad_id=1), num_tags=3
        )
