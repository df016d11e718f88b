"""Settings of a linear forecast, which has no backbone."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.core.settings import Settings


class LinearSettings(Settings):
    """A linear map from the window to all steps of the forecast, without a network.

    With `forecasting.scaling=last`, it is NLinear. DLinear adds two linear maps, of a moving average and of the rest,
    which is again a linear map of the window. Paper: Zeng et al. 2023, arXiv:2205.13504.
    """

    kind: Literal["linear"] = Field(
        "linear", description="Model family; the settings of the forecast are in the section forecasting."
    )
