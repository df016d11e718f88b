"""The section `forecasting` of a recipe. Does not import torch."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from seqlab.core.settings import Settings

Level = Annotated[float, Field(gt=0, lt=1)]
LEVELS = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)
"""The median, and the bounds of bands of 50%, 80% and 95%."""


class ForecastingSettings(Settings):
    """What a forecaster reads and predicts."""

    context: int = Field(
        0, ge=0, description="Steps before the forecast that the network reads; 0 lets the task decide."
    )
    strategy: Literal["direct", "recursive"] = Field(
        "direct",
        description=(
            "How several steps are predicted: direct (all at once), or recursive (one step at a time, from the"
            " predicted medians)."
        ),
    )
    output: Literal["quantiles", "normal"] = Field(
        "quantiles",
        description=(
            "What is predicted for each step: quantiles (pinball loss), or a normal distribution (log-likelihood)."
        ),
    )
    levels: tuple[Level, ...] = Field(
        LEVELS, min_length=1, description="Levels of the predicted quantiles, in increasing order, with 0.5."
    )
    scaling: Literal["last", "mean", "none"] = Field(
        "last",
        description=(
            "What is subtracted from a window before the network reads it: its last value, its mean, or nothing."
        ),
    )
    season: int = Field(
        0, ge=0, description="Steps after which a pattern repeats; 1 for none, 0 uses that of the frequency."
    )
    naive: Literal["", "last", "season"] = Field(
        "",
        description=(
            "The forecast that the network corrects: the last value, or the last season; the better one in training when"
            " empty."
        ),
    )
    patch: int = Field(
        0, ge=0, description="Consecutive steps that the network reads as one; 0 lets the task decide."
    )
    linear: bool = Field(
        True,
        description=(
            "Add a linear map from the window to the forecast, fitted before training; always part of --model linear."
        ),
    )
    calendar: bool = Field(
        True,
        description="Add the hour, the weekday and the day of the year as inputs, where the data spans two periods.",
    )
    origins: int = Field(
        2000, ge=1, description="Score at most this many forecasts of a part, at evenly spaced times."
    )

    @field_validator("levels")
    @classmethod
    def _check_levels(cls, levels: tuple[float, ...]) -> tuple[float, ...]:
        if list(levels) != sorted(set(levels)) or 0.5 not in levels:
            raise ValueError("levels must increase and include 0.5, which is the point forecast")
        return levels
