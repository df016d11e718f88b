"""Types of the options that several cells share, each with its sentence of help. No torch here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

Bias = Annotated[bool, Field(description="Add a bias to every gate.")]
ForgetBias = Annotated[
    float,
    Field(
        description=(
            "Initial bias of the forget gate: 1 keeps most of the cell state at first, 0 keeps half per step."
        )
    ),
]
GateConvention = Literal["old", "new"]
Keep = Annotated[
    GateConvention,
    Field(
        description=(
            "What an update gate of 1 selects: the old state or the new candidate. The two forms differ"
            " only in the sign of the gate's weights."
        )
    ),
]
CandidateActivation = Annotated[
    Literal["tanh", "sigmoid"],
    Field(description="Activation of the candidate; tanh is standard, some lectures use sigmoid."),
]
Activation = Annotated[
    Literal["tanh", "relu", "sigmoid", "identity"] | Callable[[Any], Any],
    Field(description="Activation function; identity gives a linear RNN."),
]
