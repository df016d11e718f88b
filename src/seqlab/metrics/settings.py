"""The section `evaluation` of a recipe: additional metrics."""

from __future__ import annotations

from pydantic import Field

from seqlab.core.settings import Settings
from seqlab.metrics.registry import MetricName


class EvaluationSettings(Settings):
    """Metrics in addition to the scores of the task."""

    metrics: tuple[MetricName, ...] = Field(
        (),
        description=(
            "Metrics from plug-ins, each with a 95% CI, for tasks that predict labels, tags or text (see"
            " docs/guides/extend.md)."
        ),
    )
    batch_mean_accuracy: bool = Field(
        False,
        description=(
            "For classification, also report the mean accuracy over batches, as some training loops"
            " print it; the last batch may be smaller."
        ),
    )
