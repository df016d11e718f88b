"""Formulas of parameter counts are those of the networks themselves."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter
from torch import nn

from seqlab.attention.base import score_functions
from seqlab.blocks.image import RowsToImage
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.models.base import backbones
from seqlab.models.forecasting.forecaster import Forecaster
from seqlab.models.images.convolutional import ConvolutionalImageBackbone
from seqlab.models.images.vision_transformer import VisionTransformer
from seqlab.models.parameter_formulas import (
    POSITIONS,
    SCORES,
    count_parameters,
    model_formula,
    positions_formula,
    score_formula,
)
from seqlab.models.presets import MODEL_PRESETS
from seqlab.models.settings.bag import NGramBagSettings
from seqlab.models.settings.images import ImageConvolutionalSettings, VisionTransformerSettings
from seqlab.models.settings.linear import LinearSettings
from seqlab.models.settings.section import ModelSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.summaries import MODEL_SUMMARIES, MODEL_SYNONYMS, model_summary
from seqlab.positions.base import positional_encodings
from seqlab.tasks.forecasting.settings import LEVELS

DIGITS = RowsToImage(height=8, width=8, channels=1)


def settings_of(name: str) -> ModelSettings:
    return TypeAdapter(ModelSettings).validate_python(MODEL_ALIASES[name])


def build(name: str) -> nn.Module:
    settings = settings_of(name)
    if isinstance(settings, VisionTransformerSettings):
        return VisionTransformer.from_settings(settings, DIGITS)
    if isinstance(settings, ImageConvolutionalSettings):
        return ConvolutionalImageBackbone.from_settings(settings, DIGITS)
    if isinstance(settings, LinearSettings):
        return linear_forecaster(context=21, horizon=7, targets=1, parameters=len(LEVELS))
    return backbones.get(settings.kind).from_settings(settings, causal=False)


def linear_forecaster(*, context: int, horizon: int, targets: int, parameters: int) -> Forecaster:
    return Forecaster(
        None,
        context=context,
        horizon=horizon,
        num_columns=targets,
        num_targets=targets,
        num_parameters=parameters,
        linear=True,
    )


def size_of(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize("name", [name for name in MODEL_ALIASES if name not in MODEL_PRESETS])
def test_the_formula_of_a_model_counts_its_parameters(name: str) -> None:
    if isinstance(settings_of(name), NGramBagSettings):
        assert model_formula(name) is None
        return
    formula = model_formula(name)
    assert formula is not None
    assert formula.count() == size_of(build(name))
    assert f"{formula.count():,} with " in str(formula)


def test_the_formula_of_a_linear_forecast_holds_for_several_targets() -> None:
    formula = model_formula("linear")
    assert formula is not None
    forecaster = linear_forecaster(context=5, horizon=3, targets=2, parameters=4)
    assert count_parameters(formula.text, {"w": 5, "h": 3, "t": 2, "q": 4}) == size_of(forecaster)


@pytest.mark.parametrize("name", SCORES)
def test_the_formula_of_a_score_counts_its_parameters(name: str) -> None:
    formula = score_formula(name)
    assert formula is not None
    assert formula.count() == size_of(score_functions.get(name)(256, 256))


@pytest.mark.parametrize("name", POSITIONS)
def test_the_formula_of_positions_counts_their_parameters(name: str) -> None:
    formula, settings = positions_formula(name), TransformerSettings()
    assert formula is not None
    positions = positional_encodings.get(name).from_settings(
        hidden_size=settings.hidden_size,
        num_heads=settings.heads,
        head_size=settings.hidden_size // settings.heads,
        causal=False,
        settings=settings,
    )
    assert formula.count() == size_of(positions)


def test_a_synonym_stands_for_the_same_network() -> None:
    for name, target in MODEL_SYNONYMS.items():
        assert settings_of(name) == settings_of(target), name


def test_every_model_has_a_line_of_its_own_that_fits_a_terminal() -> None:
    summaries = {name: model_summary(name) for name in MODEL_ALIASES if name not in MODEL_SYNONYMS}
    assert set(MODEL_SUMMARIES) | set(MODEL_PRESETS) == set(summaries)
    assert len(set(summaries.values())) == len(summaries)
    assert [name for name, summary in summaries.items() if len(summary) > 62] == []
