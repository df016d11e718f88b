"""The section `model` of a recipe agrees with the networks there are."""

from __future__ import annotations

from inspect import Parameter, signature

import pytest
from pydantic import TypeAdapter

from seqlab.blocks.image import RowsToPicture
from seqlab.cells.base import cells
from seqlab.cells.settings import CELL_KINDS
from seqlab.core.errors import RecipeError
from seqlab.models.base import Body, bodies
from seqlab.models.images.base import PictureNetwork
from seqlab.models.images.classifier import build_picture_network
from seqlab.models.presets import PUBLISHED
from seqlab.models.settings import MODEL_KINDS, SHORT_NAMES, ModelSettings, PictureSettings, VisionTransformerSettings, for_sequences

PICTURE_KINDS = {"vision_transformer", "image_convolutional"}
WHOLE_KINDS = {*PICTURE_KINDS, "n_gram_bag"}
"""Networks that see what they are given as a whole, and answer about no single step."""


def test_every_kind_has_a_network_and_every_network_settings() -> None:
    assert sorted(set(MODEL_KINDS) - WHOLE_KINDS) == bodies.names()
    assert {kind: settings.model_fields["kind"].default for kind, settings in MODEL_KINDS.items()} == {kind: kind for kind in MODEL_KINDS}


@pytest.mark.parametrize("name", [name for name in SHORT_NAMES if name not in {*PUBLISHED, "bag", "n_gram_bag"}])  # those have tests of their own
def test_every_short_name_stands_for_settings_that_build(name: str) -> None:
    settings = TypeAdapter(ModelSettings).validate_python(SHORT_NAMES[name])
    small = settings.model_copy(update={"hidden_size": 80})
    network: Body | PictureNetwork
    if isinstance(small, PictureSettings):
        network = build_picture_network(small, RowsToPicture(height=8, width=8))
    else:
        network = bodies.get(small.kind).build(small, causal=False)
    assert network.output_size == (160 if name.startswith("bi") else 64 if name == "projected_lstm" else 80)
    assert {key: value if isinstance(value := getattr(settings, key), bool) else str(value) for key in SHORT_NAMES[name]} == SHORT_NAMES[name]


def test_every_cell_has_settings_and_every_cell_of_the_settings_exists() -> None:
    assert sorted(CELL_KINDS) == cells.names()
    assert {name: settings.model_fields["kind"].default for name, settings in CELL_KINDS.items()} == {name: name for name in CELL_KINDS}
    assert set(CELL_KINDS) <= set(SHORT_NAMES)


@pytest.mark.parametrize("name", CELL_KINDS)
def test_the_options_of_a_cell_are_its_arguments_with_the_same_defaults(name: str) -> None:
    arguments = {key: value.default for key, value in signature(cells.get(name)).parameters.items() if value.kind is Parameter.KEYWORD_ONLY}
    assert {key: field.default for key, field in CELL_KINDS[name].model_fields.items() if key != "kind"} == arguments


@pytest.mark.parametrize("kind", MODEL_KINDS)
def test_every_setting_has_a_sentence(kind: str) -> None:
    assert [name for name, field in MODEL_KINDS[kind].model_fields.items() if not (field.description or "").endswith(".")] == []


def test_the_deepest_convolutions_that_settings_allow_can_be_built() -> None:
    deepest = TypeAdapter(ModelSettings).validate_python({"kind": "convolutional", "hidden_size": 2, "layers": 16})
    assert bodies.get("convolutional").build(deepest, causal=True).receptive_field == 131_071
    with pytest.raises(ValueError, match="less than or equal to 16"):
        TypeAdapter(ModelSettings).validate_python({"kind": "convolutional", "layers": 17})


def test_a_network_for_pictures_is_refused_where_every_step_is_asked_about() -> None:
    with pytest.raises(RecipeError) as caught:
        for_sequences(VisionTransformerSettings())
    assert str(caught.value) == (
        "model.kind: a vision_transformer network reads whole pictures, and this task asks about every step.\n"
        "  Use --model lstm, --model cnn or --model transformer; pictures can be classified and captioned."
    )
    for kind in set(MODEL_KINDS) - WHOLE_KINDS:
        settings = TypeAdapter(ModelSettings).validate_python({"kind": kind})
        assert for_sequences(settings) is settings
