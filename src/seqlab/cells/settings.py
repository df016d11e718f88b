"""The setting `model.cell` of a recipe: one class of settings per cell, its options named like the cell's own
arguments.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from seqlab.core.settings import Settings

ActivationName = Literal["tanh", "relu", "sigmoid", "identity"]
Gate = Literal["write", "forget", "expose"]
BIAS = "Add a bias to every gate."
FORGET_BIAS = "The forget gate's bias at the start; 1 remembers, 0 forgets half at every step."
KEEP = (
    "What the gate at 1 keeps: the old state, or the new candidate. The two differ by the sign of the gate's"
    " weights."
)


class RNNSettings(Settings):
    """The plain cell: hidden' = activation(W x + U hidden + b)."""

    kind: Literal["rnn"] = Field("rnn", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    activation: ActivationName = Field(
        "tanh", description="What bends the sum; identity gives the linear recurrent network."
    )


class LSTMSettings(Settings):
    """Long short-term memory: a memory behind three gates."""

    kind: Literal["lstm"] = Field("lstm", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    forget_bias: float = Field(1.0, description=FORGET_BIAS)
    candidate: Literal["tanh", "sigmoid"] = Field(
        "tanh", description="The activation of what is written; some lectures print sigmoid."
    )


class PeepholeLSTMSettings(Settings):
    """An LSTM whose gates also see the memory."""

    kind: Literal["peephole_lstm"] = Field("peephole_lstm", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    forget_bias: float = Field(1.0, description=FORGET_BIAS)
    peepholes: Literal["diagonal", "full"] = Field(
        "diagonal", description="Each gate sees its own memory cell, or all of them through a matrix."
    )
    gates: tuple[Gate, ...] = Field(
        ("write", "forget", "expose"), description="The gates that see the memory."
    )
    expose_sees: Literal["previous", "new"] = Field(
        "previous", description="Which memory the exposing gate sees: as before the step, or after."
    )


class CoupledLSTMSettings(Settings):
    """An LSTM that writes exactly where it forgets."""

    kind: Literal["coupled_lstm"] = Field("coupled_lstm", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    forget_bias: float = Field(1.0, description=FORGET_BIAS)


class LayerNormLSTMSettings(Settings):
    """An LSTM with layer normalisation of its sums and of its memory."""

    kind: Literal["layer_norm_lstm"] = Field("layer_norm_lstm", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    forget_bias: float = Field(1.0, description=FORGET_BIAS)


class ProjectedLSTMSettings(Settings):
    """An LSTM that shows a smaller projection of its hidden state."""

    kind: Literal["projected_lstm"] = Field("projected_lstm", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    forget_bias: float = Field(1.0, description=FORGET_BIAS)
    proj_size: int = Field(64, ge=1, description="Width of the projection; smaller than the memory.")


class GRUSettings(Settings):
    """The gated recurrent unit as torch has it: the reset gate acts after the recurrent product."""

    kind: Literal["gru"] = Field("gru", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    keep: Literal["old", "new"] = Field("old", description=KEEP)


class ResetBeforeGRUSettings(Settings):
    """The gated recurrent unit as first published: the reset gate acts before the recurrent product."""

    kind: Literal["reset_before_gru"] = Field("reset_before_gru", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    keep: Literal["old", "new"] = Field("old", description=KEEP)
    candidate: Literal["tanh", "sigmoid"] = Field(
        "tanh", description="The activation of the candidate; some lectures print sigmoid."
    )
    candidate_bias: Literal["inside", "outside"] = Field(
        "inside", description="The candidate's bias before its activation, or (as one lecture prints) after."
    )


class SingleGateSettings(Settings):
    """One gate decides between the old state and a new candidate."""

    kind: Literal["single_gate"] = Field("single_gate", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    keep: Literal["old", "new"] = Field("new", description=KEEP)


class AdditiveSettings(Settings):
    """The generic additive update: hidden' = keep ⊙ hidden + (1 - keep) ⊙ candidate, for any candidate."""

    kind: Literal["additive"] = Field("additive", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    candidate: Literal["recurrent", "input", "linear"] = Field(
        "recurrent", description="tanh(W x + U hidden + b), tanh(W x + b), or W x + b."
    )
    keep: Literal["old", "new"] = Field("old", description=KEEP)


class OrthogonalRNNSettings(Settings):
    """A plain cell whose recurrent matrix stays orthogonal while it is trained."""

    kind: Literal["orthogonal_rnn"] = Field("orthogonal_rnn", description="The cell.")
    bias: bool = Field(True, description=BIAS)
    activation: Literal["modrelu", "tanh", "relu", "identity"] = Field(
        "modrelu", description="modrelu moves values to or from zero and keeps signs."
    )
    radius: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Singular values may lie within 1 ± radius; 0 keeps the matrix orthogonal.",
    )


class MinGRUSettings(Settings):
    """A linear recurrence: gate and candidate see only the input."""

    kind: Literal["min_gru"] = Field("min_gru", description="The cell.")
    bias: bool = Field(True, description=BIAS)


def _named(value: Any) -> Any:
    """`cell = "lstm"` stands for `cell = { kind = "lstm" }`."""
    return {"kind": value} if isinstance(value, str) else value


CELL_KINDS: dict[str, type[Settings]] = {
    "rnn": RNNSettings,
    "lstm": LSTMSettings,
    "peephole_lstm": PeepholeLSTMSettings,
    "coupled_lstm": CoupledLSTMSettings,
    "layer_norm_lstm": LayerNormLSTMSettings,
    "projected_lstm": ProjectedLSTMSettings,
    "gru": GRUSettings,
    "reset_before_gru": ResetBeforeGRUSettings,
    "single_gate": SingleGateSettings,
    "additive": AdditiveSettings,
    "orthogonal_rnn": OrthogonalRNNSettings,
    "min_gru": MinGRUSettings,
}

CellSettings = Annotated[
    Annotated[
        RNNSettings
        | LSTMSettings
        | PeepholeLSTMSettings
        | CoupledLSTMSettings
        | LayerNormLSTMSettings
        | ProjectedLSTMSettings
        | GRUSettings
        | ResetBeforeGRUSettings
        | SingleGateSettings
        | AdditiveSettings
        | OrthogonalRNNSettings
        | MinGRUSettings,
        Field(discriminator="kind"),
    ],
    BeforeValidator(_named),
]
