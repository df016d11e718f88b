"""The parts of the task forecasting that need torch, and how its network is built."""

from __future__ import annotations

from torch import nn

from seqlab.models.base import backbones
from seqlab.models.forecasting.forecaster import Forecaster
from seqlab.models.settings.linear import LinearSettings
from seqlab.models.settings.section import require_sequence_settings
from seqlab.tasks.forecasting.codec import ForecastingCodec
from seqlab.tasks.forecasting.conformal import ForecastCalibration
from seqlab.tasks.forecasting.evaluator import ForecastingEvaluator
from seqlab.tasks.forecasting.objective import ForecastingObjective
from seqlab.tasks.forecasting.predictor import ForecastingPredictor
from seqlab.tasks.parts import TaskParts


def build_model(codec: ForecastingCodec) -> nn.Module:
    """Build a forecaster around the backbone of the recipe; `kind=linear` has none."""
    settings, model = codec.settings, codec.recipe.model
    backbone, dropout = None, 0.0
    if not isinstance(model, LinearSettings):
        sequence = require_sequence_settings(model)
        backbone, dropout = (
            backbones.get(sequence.kind).from_settings(sequence, causal=True),
            sequence.dropout,
        )
    return Forecaster(
        backbone,
        context=settings.context,
        horizon=codec.network_horizon,
        num_columns=codec.num_columns,
        num_targets=len(codec.columns.targets),
        num_parameters=codec.output.num_parameters,
        num_known=codec.num_known,
        season=settings.season if settings.naive == "season" else 1,
        center=codec.output.center,
        patch=settings.patch,
        scaling=settings.scaling,
        linear=settings.linear or backbone is None,
        dropout=dropout,
    )


PARTS = TaskParts(
    codec=ForecastingCodec,
    build_model=build_model,
    objective=ForecastingObjective,
    evaluator=ForecastingEvaluator,
    predictor=ForecastingPredictor,
    calibration=ForecastCalibration,
)
