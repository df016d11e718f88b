"""The registry of metrics that a recipe can add to those of its task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.core.part_name import PartName
from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.metrics.metric import Metric

metrics: Registry[type[Metric]] = Registry("metric", package="seqlab.metrics")


class MetricName(PartName):
    """The name of a metric in a recipe."""

    registry = metrics
