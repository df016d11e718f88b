"""Settings of fixed-window networks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.core.settings import Settings
from seqlab.models.settings.pooling import ClassifierPooling, NumQueries


class FixedWindowSettings(Settings):
    """A fixed window: one hidden layer over the last few steps, with no memory of anything earlier."""

    kind: Literal["fixed_window"] = Field("fixed_window", description="Model family.")
    context: int = Field(
        9,
        ge=1,
        le=512,
        description=(
            "Number of steps in the window, including the current one; must be odd unless the model is"
            " causal."
        ),
    )
    hidden_size: int = Field(512, ge=1, description="Size of the hidden layer.")
    embedding_size: int = Field(
        64, ge=0, description="Size of the input embedding; 0 uses the size of the hidden layer."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout probability in the hidden layer.")
    pooling: ClassifierPooling = "max"
    queries: NumQueries = 4
    tied: bool = Field(
        True,
        description=(
            "Tie the weights of a language model's output layer to the embedding when the sizes match."
        ),
    )
