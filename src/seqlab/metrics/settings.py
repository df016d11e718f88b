"""The section `evaluation` of a recipe: which metrics are computed beside those of the task."""

from __future__ import annotations

from pydantic import Field

from seqlab.core.settings import Settings
from seqlab.metrics.registry import MetricName


class EvaluationSettings(Settings):
    """Which metrics are computed beside those of the task."""

    metrics: tuple[MetricName, ...] = Field(
        (),
        description=(
            "Metrics of plug-ins, each with a 95% CI, for tasks that predict labels, tags or text (see"
            " docs/extending.md)."
        ),
    )
