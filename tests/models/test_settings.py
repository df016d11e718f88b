"""The section `model` of a recipe agrees with the networks there are."""

from __future__ import annotations

from inspect import Parameter, signature

import pytest
from pydantic import TypeAdapter

from seqlab.blocks.image import RowsToImage
from seqlab.cells.base import cells
from seqlab.cells.settings import CELL_KINDS
from seqlab.core.errors import RecipeError
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.models.base import Backbone, backbones
from seqlab.models.images.base import ImageBackbone
from seqlab.models.images.classifier import build_image_backbone
from seqlab.models.presets import MODEL_PRESETS
from seqlab.models.settings.images import ImageSettings, VisionTransformerSettings
from seqlab.models.settings.section import MODEL_KINDS, ModelSettings, require_sequence_settings

PICTURE_KINDS = {"vision_transformer", "image_convolutional"}
WHOLE_KINDS = {*PICTURE_KINDS, "n_gram_bag", "linear"}
"""Networks that see what they are given as a whole, and answer about no single step."""


def test_every_kind_has_a_network_and_every_network_settings() -> None:
    assert sorted(set(MODEL_KINDS) - WHOLE_KINDS) == backbones.names()
    assert {kind: settings.model_fields["kind"].default for kind, settings in MODEL_KINDS.items()} == {
        kind: kind for kind in MODEL_KINDS
    }


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, alias in MODEL_ALIASES.items()
        if name not in MODEL_PRESETS and alias["kind"] not in ("n_gram_bag", "linear")
    ],
)  # those have tests of their own
def test_every_short_name_stands_for_settings_that_build(name: str) -> None:
    settings = TypeAdapter(ModelSettings).validate_python(MODEL_ALIASES[name])
    small = settings.model_copy(update={"hidden_size": 80})
    network: Backbone | ImageBackbone
    if isinstance(small, ImageSettings):
        network = build_image_backbone(small, RowsToImage(height=8, width=8))
    else:
        network = backbones.get(small.kind).from_settings(small, causal=False)
    assert network.output_size == (160 if name.startswith("bi") else 64 if name == "projected_lstm" else 80)
    assert {
        key: value if isinstance(value := getattr(settings, key), bool) else str(value)
        for key in MODEL_ALIASES[name]
    } == MODEL_ALIASES[name]


def test_every_cell_has_settings_and_every_cell_of_the_settings_exists() -> None:
    assert sorted(CELL_KINDS) == cells.names()
    assert {name: settings.model_fields["kind"].default for name, settings in CELL_KINDS.items()} == {
        name: name for name in CELL_KINDS
    }
    assert set(CELL_KINDS) <= set(MODEL_ALIASES)


@pytest.mark.parametrize("name", CELL_KINDS)
def test_the_options_of_a_cell_are_its_arguments_with_the_same_defaults(name: str) -> None:
    arguments = {
        key: value.default
        for key, value in signature(cells.get(name)).parameters.items()
        if value.kind is Parameter.KEYWORD_ONLY
    }
    assert {
        key: field.default for key, field in CELL_KINDS[name].model_fields.items() if key != "kind"
    } == arguments


@pytest.mark.parametrize("kind", MODEL_KINDS)
def test_every_setting_has_a_sentence(kind: str) -> None:
    assert [
        name
        for name, field in MODEL_KINDS[kind].model_fields.items()
        if not (field.description or "").endswith(".")
    ] == []


def test_the_deepest_convolutions_that_settings_allow_can_be_built() -> None:
    deepest = TypeAdapter(ModelSettings).validate_python(
        {"kind": "convolutional", "hidden_size": 2, "layers": 16}
    )
    assert backbones.get("convolutional").from_settings(deepest, causal=True).receptive_field == 131_071
    with pytest.raises(ValueError, match="less than or equal to 16"):
        TypeAdapter(ModelSettings).validate_python({"kind": "convolutional", "layers": 17})


def test_a_network_for_pictures_is_refused_where_every_step_is_asked_about() -> None:
    with pytest.raises(RecipeError) as caught:
        require_sequence_settings(VisionTransformerSettings())
    assert str(caught.value).startswith("model.kind: a vision_transformer network")
    for model in ("lstm", "cnn", "transformer"):
        assert f'model="{model}"' in str(caught.value)
    for kind in set(MODEL_KINDS) - WHOLE_KINDS:
        settings = TypeAdapter(ModelSettings).validate_python({"kind": kind})
        assert require_sequence_settings(settings) is settings
