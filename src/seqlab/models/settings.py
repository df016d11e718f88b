"""The section `model` of a recipe: one class of settings per kind of network."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from seqlab.cells.settings import CELL_KINDS, CellSettings, LSTMSettings
from seqlab.core.settings import Settings

Width = Annotated[int, Field(ge=1)]
Pooling = Literal["last", "max", "mean"]


class RecurrentSettings(Settings):
    """A recurrent network: reads step by step and carries a state."""

    kind: Literal["recurrent"] = Field("recurrent", description="The family of the network: recurrent, convolutional or transformer.")
    cell: CellSettings = Field(LSTMSettings(), description="The cell that is walked through time; its name alone takes the cell's defaults.")
    layers: int = Field(1, ge=1, le=64, description="Layers on top of each other.")
    hidden_size: int = Field(256, ge=1, description="Width of the state.")
    hidden_sizes: tuple[Width, ...] = Field((), max_length=64, description="A width for each layer, in place of layers and hidden_size.")
    embedding_size: int = Field(0, ge=0, description="Width of what enters; 0 takes the width of the first layer.")
    bidirectional: bool = Field(False, description="Read in both directions; refused where the future must stay unseen.")
    merge: Literal["concat", "mean", "sum", "learned"] = Field(
        "concat", description="How the two directions of a layer become one: side by side, their mean, their sum, or a trained map of both."
    )
    residual: bool = Field(False, description="Add what enters a layer to what leaves it, where both are equally wide.")
    initial_state: Literal["zeros", "random", "xavier", "learned"] = Field(
        "zeros", description="The state before the first step: zeros, drawn anew for every sequence while training (random, xavier), or learned."
    )
    initialisation: Literal["torch", "orthogonal", "identity", "xavier"] = Field("torch", description="How the weights of the cells start.")
    dropout: float = Field(0.2, ge=0, lt=1, description="Share of values dropped before each layer while training.")
    input_dropout: float = Field(-1, ge=-1, lt=1, description="Share of what enters the first layer that is dropped; -1 takes dropout.")
    locked_dropout: bool = Field(False, description="Drop the same values at every step of a sequence (variational dropout).")
    pooling: Pooling = Field("last", description="How all steps become one vector for a classifier: last, max or mean.")
    head_size: int = Field(0, ge=0, description="Width of a layer with ReLU between a classifier's vector and its classes; 0 has none.")
    padding_mask: bool = Field(True, description="Walk over real steps only; False repeats a common mistake of classifiers, for comparison.")
    tied: bool = Field(True, description="A language model's output layer shares the embedding's weights when the widths allow it.")


class ConvolutionalSettings(Settings):
    """A stack of convolutions over time: each layer doubles what a step sees."""

    kind: Literal["convolutional"] = Field("convolutional", description="The family of the network: recurrent, convolutional or transformer.")
    layers: int = Field(4, ge=1, le=16, description="Layers on top of each other; each looks twice as far as the one below.")
    hidden_size: int = Field(128, ge=1, description="Width of every layer.")
    kernel_size: int = Field(3, ge=1, le=99, description="Steps that one convolution joins; odd unless the model is causal.")
    dropout: float = Field(0.2, ge=0, lt=1, description="Share of values dropped after each layer while training.")
    pooling: Pooling = Field("max", description="How all steps become one vector for a classifier: last, max or mean.")
    tied: bool = Field(True, description="A language model's output layer shares the embedding's weights.")


class TransformerSettings(Settings):
    """A Transformer: every step looks at every other one (or, in a language model, at the earlier ones)."""

    kind: Literal["transformer"] = Field("transformer", description="The family of the network: recurrent, convolutional or transformer.")
    layers: int = Field(2, ge=1, le=200, description="Layers on top of each other.")
    hidden_size: int = Field(128, ge=1, description="Width of every layer.")
    heads: int = Field(4, ge=1, description="Attention heads; hidden_size must be a multiple.")
    feedforward_size: int = Field(0, ge=0, description="Inner width of the feed-forward network; 0 takes four times hidden_size.")
    norm: Literal["pre", "post"] = Field("pre", description="LayerNorm before each sub-layer (trains more easily) or after (as first published).")
    norm_eps: float = Field(1e-5, gt=0, description="Added to the variance in each LayerNorm.")
    positions: Literal["sinusoidal", "learned", "none"] = Field("sinusoidal", description="How a step's place is told.")
    max_positions: int = Field(1024, ge=1, description="Places that learned positions know.")
    activation: Literal["relu", "gelu"] = Field("gelu", description="Activation inside the feed-forward network.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Share of values dropped after the embedding and inside the feed-forward network.")
    sublayer_dropout: bool = Field(True, description="Also drop from the output of each sub-layer.")
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="Dropped from the attention weights; more than 0 costs about three times the step.")
    qkv_bias: bool = Field(True, description="Biases in the query, key and value projections.")
    embedding_norm: bool = Field(False, description="LayerNorm (eps 1e-12) after the embedding.")
    padding_mask: bool = Field(True, description="Keep padding out of attention and pooling; False repeats a common mistake, for comparison.")
    pooling: Pooling = Field("max", description="How all steps become one vector for a classifier: last, max or mean.")
    tied: bool = Field(True, description="A language model's output layer shares the embedding's weights.")


ModelSettings = Annotated[RecurrentSettings | ConvolutionalSettings | TransformerSettings, Field(discriminator="kind")]

MODEL_KINDS: dict[str, type[Settings]] = {
    "recurrent": RecurrentSettings,
    "convolutional": ConvolutionalSettings,
    "transformer": TransformerSettings,
}

SHORT_NAMES: dict[str, dict[str, object]] = {
    **{name: {"kind": "recurrent", "cell": name} for name in CELL_KINDS},
    **{f"bi{name}": {"kind": "recurrent", "cell": name, "bidirectional": True} for name in ("rnn", "lstm", "gru")},
    "cnn": {"kind": "convolutional"},
    "recurrent": {"kind": "recurrent"},
    "convolutional": {"kind": "convolutional"},
    "transformer": {"kind": "transformer"},
}
"""What `--model NAME` stands for."""
