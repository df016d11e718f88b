"""Settings of recurrent networks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from seqlab.cells.settings import AnyCellSettings, named_cell
from seqlab.core.settings import Settings
from seqlab.models.settings.pooling import ClassifierPooling, NumQueries

Width = Annotated[int, Field(ge=1)]


class RecurrentSettings(Settings):
    """A recurrent network: reads step by step and carries a state."""

    kind: Literal["recurrent"] = Field(
        "recurrent", description="Model family: recurrent, convolutional or transformer."
    )
    cell: AnyCellSettings = Field(
        default_factory=lambda: named_cell("lstm"),
        description="The recurrent cell; a name alone uses that cell's defaults.",
    )
    layers: int = Field(1, ge=1, le=64, description="Number of stacked layers.")
    hidden_size: int = Field(256, ge=1, description="Size of the hidden state.")
    hidden_sizes: tuple[Width, ...] = Field(
        (), max_length=64, description="One hidden size per layer; replaces layers and hidden_size."
    )
    embedding_size: int = Field(
        0, ge=0, description="Size of the input embedding; 0 uses the size of the first layer."
    )
    bidirectional: bool = Field(
        False,
        description=("Read the sequence in both directions; not allowed for tasks that predict the future."),
    )
    merge: Literal["concat", "mean", "sum", "learned"] = Field(
        "concat",
        description=(
            "How to combine the outputs of the two directions: concatenate, average, add, or apply a"
            " learned projection."
        ),
    )
    residual: bool = Field(
        False, description="Add each layer's input to its output (residual connection) where the sizes match."
    )
    initial_state: Literal["zeros", "random", "xavier", "learned"] = Field(
        "zeros",
        description=(
            "Initial hidden state: zeros, a random draw for every training sequence (random, xavier), or"
            " learned."
        ),
    )
    initialization: Literal["torch", "orthogonal", "identity", "xavier"] = Field(
        "torch", description="How cell weights are initialized."
    )
    dropout: float = Field(0.2, ge=0, lt=1, description="Dropout probability before each layer.")
    input_dropout: float = Field(
        -1, ge=-1, lt=1, description="Dropout probability of the first layer's input; -1 uses dropout."
    )
    locked_dropout: bool = Field(
        False, description="Use the same dropout mask at every time step (variational dropout)."
    )
    pooling: ClassifierPooling = "last"
    queries: NumQueries = 4
    head_size: int = Field(
        0,
        ge=0,
        description=(
            "Size of a ReLU layer between a classifier's pooled vector and its logits; 0 leaves it out."
        ),
    )
    padding_mask: bool = Field(
        True,
        description=("Skip padding steps; false reproduces a common mistake, for comparison."),
    )
    tied: bool = Field(
        True,
        description=(
            "Tie the weights of a language model's output layer to the embedding when the sizes match."
        ),
    )
