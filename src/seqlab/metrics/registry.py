"""The registry of metrics that a recipe can add to those of its task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from seqlab.core.part_name import PartName
from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.metrics.metric import Metric

metrics: Registry[type[Metric]] = Registry("metric", package="seqlab.metrics")


TRAINED = {"is_trained": True}
"""The context in which the recipe of a finished run is validated."""


class MetricName(PartName):
    """The name of a metric in a recipe. A finished run predicts without its metrics, so the name of one that is
    not loaded is an error there only where the run is scored.
    """

    registry = metrics

    @classmethod
    def check_new(cls, name: str, info: ValidationInfo) -> str:
        return str(name) if info.context == TRAINED else cls.check(name)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_after_validator_function(cls.check_new, core_schema.str_schema())
