"""The section `model` of a recipe agrees with the networks there are."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from seqlab.models.base import bodies
from seqlab.models.settings import MODEL_KINDS, SHORT_NAMES, ModelSettings


def test_every_kind_has_a_network_and_every_network_settings() -> None:
    assert sorted(MODEL_KINDS) == bodies.names()
    assert {kind: settings.model_fields["kind"].default for kind, settings in MODEL_KINDS.items()} == {kind: kind for kind in MODEL_KINDS}


@pytest.mark.parametrize("name", SHORT_NAMES)
def test_every_short_name_stands_for_settings_that_build(name: str) -> None:
    settings = TypeAdapter(ModelSettings).validate_python(SHORT_NAMES[name])
    small = settings.model_copy(update={"hidden_size": 8})
    body = bodies.get(small.kind).build(small, causal=False)
    assert body.output_size == (16 if "bi" in name else 8)
    assert {key: getattr(settings, key) for key in SHORT_NAMES[name]} == SHORT_NAMES[name]


@pytest.mark.parametrize("kind", MODEL_KINDS)
def test_every_setting_has_a_sentence(kind: str) -> None:
    assert [name for name, field in MODEL_KINDS[kind].model_fields.items() if not (field.description or "").endswith(".")] == []


def test_the_deepest_convolutions_that_settings_allow_can_be_built() -> None:
    deepest = TypeAdapter(ModelSettings).validate_python({"kind": "convolutional", "hidden_size": 2, "layers": 16})
    assert bodies.get("convolutional").build(deepest, causal=True).receptive_field == 131_071  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="less than or equal to 16"):
        TypeAdapter(ModelSettings).validate_python({"kind": "convolutional", "layers": 17})
