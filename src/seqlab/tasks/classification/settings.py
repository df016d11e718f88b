"""The section `classification` of a recipe. No torch here."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.core.settings import Settings


class ClassificationSettings(Settings):
    """How the classes count."""

    class_weights: Literal["none", "balanced"] = Field(
        "none",
        description=(
            "With balanced, rare classes have more weight, N / (classes · its rows), and macro-F1 chooses the"
            " best model."
        ),
    )
