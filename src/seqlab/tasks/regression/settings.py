"""The section `regression` of a recipe. No torch here."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.core.settings import Settings


class RegressionSettings(Settings):
    """The loss of a predicted number."""

    loss: Literal["huber", "squared"] = Field(
        "huber",
        description=(
            "Loss of a predicted number: half the squared error, or huber, which is linear beyond one standard"
            " deviation."
        ),
    )
