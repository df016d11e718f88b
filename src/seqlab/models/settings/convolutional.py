"""Settings of convolutional networks over time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.core.settings import Settings
from seqlab.models.settings.pooling import ClassifierPooling, NumQueries


class ConvolutionalSettings(Settings):
    """A stack of convolutions over time: each layer doubles what a step sees."""

    kind: Literal["convolutional"] = Field(
        "convolutional", description="Model family: recurrent, convolutional or transformer."
    )
    layers: int = Field(
        4,
        ge=1,
        le=16,
        description=("Number of stacked layers; each one doubles the dilation of the one below."),
    )
    hidden_size: int = Field(128, ge=1, description="Channels of every layer.")
    kernel_size: int = Field(
        3, ge=1, le=99, description="Kernel size in steps; must be odd unless the model is causal."
    )
    dropout: float = Field(0.2, ge=0, lt=1, description="Dropout probability after each layer.")
    pooling: ClassifierPooling = "max"
    queries: NumQueries = 4
    tied: bool = Field(
        True, description=("Tie the weights of a language model's output layer to the embedding.")
    )
