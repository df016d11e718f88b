"""Settings of Transformers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.core.settings import Settings
from seqlab.models.settings.pooling import ClassifierPooling, NumQueries
from seqlab.positions.registry import PositionsName


class TransformerSettings(Settings):
    """A Transformer: every step attends to every other step (in a language model, only to earlier ones)."""

    kind: Literal["transformer"] = Field(
        "transformer", description="Model family: recurrent, convolutional or transformer."
    )
    layers: int = Field(2, ge=1, le=200, description="Number of stacked layers.")
    hidden_size: int = Field(128, ge=1, description="Size of every layer's input and output.")
    heads: int = Field(
        4, ge=1, description="Number of attention heads; must divide hidden_size unless head_size is set."
    )
    head_size: int = Field(0, ge=0, description="Size of each head; 0 uses hidden_size divided by heads.")
    kv_heads: int = Field(
        0,
        ge=0,
        description=(
            "Number of key-value heads, each shared by a group of query heads; 0 gives every head its own."
        ),
    )
    feedforward_size: int = Field(
        0, ge=0, description="Inner size of the feed-forward network; 0 uses 4 × hidden_size."
    )
    norm: Literal["pre", "post", "rezero", "shared_rezero", "lecture"] = Field(
        "pre",
        description=(
            "Normalize before (pre) or after (post) each sublayer, or learn a residual weight"
            " (rezero; shared_rezero: one per layer); lecture reproduces a known mistake."
        ),
    )
    norm_kind: Literal["layer", "rms"] = Field(
        "layer", description="LayerNorm, or RMSNorm, which has no mean and no bias."
    )
    norm_eps: float = Field(
        1e-5, gt=0, description=("Added to the variance in every norm, for numerical stability.")
    )
    positions: PositionsName = Field(PositionsName("sinusoidal"), description="Positional encoding.")
    max_positions: int = Field(1024, ge=1, description="Maximum sequence length of learned positions.")
    rotary_base: float = Field(
        10000.0, gt=1, description="Base of the rotary frequencies; a larger base suits longer texts."
    )
    activation: Literal["relu", "gelu", "gelu_tanh", "silu"] = Field(
        "gelu",
        description=(
            "Activation of the feed-forward network; gelu_tanh is an approximation of gelu that some"
            " pretrained weights need."
        ),
    )
    gated: bool = Field(
        False, description="Use a gated feed-forward network; with activation silu this is SwiGLU."
    )
    window: int = Field(
        0,
        ge=0,
        description=("Attend only to steps closer than this (sliding-window attention); 0 attends to all."),
    )
    dropout: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Dropout probability after the embedding and inside the feed-forward network.",
    )
    sublayer_dropout: bool = Field(True, description="Also apply dropout to the output of each sublayer.")
    attention_dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Dropout probability of the attention weights; above 0, each step is 1.1–3× slower.",
    )
    qkv_bias: bool = Field(True, description="Use biases in the query, key and value projections.")
    bias: bool = Field(
        True, description="Use biases in attention's output projection and in the feed-forward network."
    )
    embedding_norm: bool = Field(False, description="Apply LayerNorm after the embedding.")
    embedding_norm_eps: float = Field(
        1e-12,
        gt=0,
        description=("Added to the variance in the LayerNorm after the embedding, for numerical stability."),
    )
    embedding_scale: bool = Field(
        False, description="Multiply the embedding by the square root of hidden_size before adding positions."
    )
    causal: bool = Field(
        False,
        description=("Use a causal mask in a classifier or tagger too; a language model always has one."),
    )
    padding_mask: bool = Field(
        True,
        description=(
            "Mask padding in attention and pooling; false reproduces a common mistake, for comparison."
        ),
    )
    pooling: ClassifierPooling = "max"
    queries: NumQueries = 4
    tied: bool = Field(
        True, description=("Tie the weights of a language model's output layer to the embedding.")
    )
