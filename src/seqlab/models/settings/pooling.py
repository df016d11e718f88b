"""How a classifier pools all steps into one vector: settings that most networks share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

Pooling = Literal["last", "first", "max", "mean", "queries"]
ClassifierPooling = Annotated[
    Pooling,
    Field(
        description="How a classifier pools all steps into one vector: last, first, max, mean or learned queries."
    ),
]
NumQueries = Annotated[
    int,
    Field(
        ge=1,
        le=64,
        description="Number of learned queries that attend to the steps; applies to pooling=queries.",
    ),
]
