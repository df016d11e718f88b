"""The section `model` of a recipe: one class of settings per kind of network."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from seqlab.attention.registry import ScoreName
from seqlab.cells.settings import AnyCellSettings, named_cell
from seqlab.core.errors import RecipeError
from seqlab.core.settings import Settings
from seqlab.positions.registry import PositionsName

Width = Annotated[int, Field(ge=1)]
Pooling = Literal["last", "first", "max", "mean", "queries"]


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
    pooling: Pooling = Field(
        "last",
        description=(
            "How a classifier pools all steps into one vector: last, first, max, mean or learned queries."
        ),
    )
    queries: int = Field(
        4,
        ge=1,
        le=64,
        description=("Number of learned queries that attend to the steps; applies to pooling=queries."),
    )
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
    pooling: Pooling = Field(
        "max",
        description=(
            "How a classifier pools all steps into one vector: last, first, max, mean or learned queries."
        ),
    )
    queries: int = Field(
        4,
        ge=1,
        le=64,
        description=("Number of learned queries that attend to the steps; applies to pooling=queries."),
    )
    tied: bool = Field(
        True, description=("Tie the weights of a language model's output layer to the embedding.")
    )


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
    pooling: Pooling = Field(
        "max",
        description=(
            "How a classifier pools all steps into one vector: last, first, max, mean or learned queries."
        ),
    )
    queries: int = Field(
        4,
        ge=1,
        le=64,
        description=("Number of learned queries that attend to the steps; applies to pooling=queries."),
    )
    tied: bool = Field(
        True,
        description=(
            "Tie the weights of a language model's output layer to the embedding when the sizes match."
        ),
    )


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
    pooling: Pooling = Field(
        "max",
        description=(
            "How a classifier pools all steps into one vector: last, first, max, mean or learned queries."
        ),
    )
    queries: int = Field(
        4,
        ge=1,
        le=64,
        description=("Number of learned queries that attend to the steps; applies to pooling=queries."),
    )
    tied: bool = Field(
        True, description=("Tie the weights of a language model's output layer to the embedding.")
    )


class VisionTransformerSettings(TransformerSettings):
    """A Vision Transformer: the patches of an image are the steps of a Transformer."""

    # Each kind has its own name, which for the type checker contradicts that of the parent.
    kind: Literal["vision_transformer"] = Field("vision_transformer", description="Model family.")  # type: ignore[assignment]  # see above
    patch_size: int = Field(
        4, ge=1, description="Patch size in pixels; must divide the image's height and width."
    )
    channels: int = Field(
        1,
        ge=1,
        description="Channels per pixel, stored next to each other in a row: 1 for grayscale, 3 for color.",
    )
    height: int = Field(0, ge=0, description="Image height in rows; 0 uses the number of columns.")
    positions: PositionsName = Field(
        PositionsName("learned"), description=("Positional encoding of the patches.")
    )
    max_positions: int = Field(
        0, ge=0, description="Maximum number of learned positions; 0 uses the number of patches."
    )
    pooling: Pooling = Field(
        "first",
        description=(
            "How to pool all patches into one vector: first (a learned class token), last, max, mean or"
            " learned queries."
        ),
    )


class ImageConvolutionalSettings(Settings):
    """A convolutional network for images: stages of 3×3 convolutions, each at half the resolution of the one
    before.
    """

    kind: Literal["image_convolutional"] = Field("image_convolutional", description="Model family.")
    layers: int = Field(
        2,
        ge=1,
        le=8,
        description=("Number of stages of two convolutions each; the image is halved between stages."),
    )
    hidden_size: int = Field(64, ge=1, description="Channels of every stage.")
    channels: int = Field(
        1,
        ge=1,
        description="Channels per pixel, stored next to each other in a row: 1 for grayscale, 3 for color.",
    )
    height: int = Field(0, ge=0, description="Image height in rows; 0 uses the number of columns.")
    non_local: bool = Field(
        False, description="Add non-local self-attention over all positions after the first stage."
    )
    non_local_score: ScoreName = Field(
        ScoreName("scaled_dot"), description="How non_local compares two positions."
    )
    dropout: float = Field(
        0.2, ge=0, lt=1, description="Dropout probability after each stage and before the output layer."
    )
    pooling: Literal["max", "mean"] = Field(
        "mean", description="How to pool all regions into one vector: max or mean."
    )


class NGramBagSettings(Settings):
    """A bag of n-grams, not a neural network: each n-gram of a text is weighted by how well it separates the
    classes.
    """

    kind: Literal["n_gram_bag"] = Field(
        "n_gram_bag", description="Model family; its settings are in the section bag."
    )


class BagSettings(Settings):
    """The bag of n-grams of a text classifier, alone (--model bag) or next to a network."""

    n_grams: int = Field(
        0,
        ge=0,
        le=8,
        description="Longest n-gram. 0 disables the bag next to a network; a bag on its own uses 3.",
    )
    max_features: int = Field(
        0,
        ge=0,
        le=1 << 28,
        description=(
            "Maximum number of n-grams, most frequent first by number of texts; 0 lets the task decide."
        ),
    )
    min_df: int = Field(2, ge=1, description="Ignore n-grams that occur in fewer training texts than this.")


ImageSettings = VisionTransformerSettings | ImageConvolutionalSettings
SequenceSettings = RecurrentSettings | ConvolutionalSettings | FixedWindowSettings | TransformerSettings

ModelSettings = Annotated[
    RecurrentSettings
    | ConvolutionalSettings
    | FixedWindowSettings
    | TransformerSettings
    | VisionTransformerSettings
    | ImageConvolutionalSettings
    | NGramBagSettings,
    Field(discriminator="kind"),
]

MODEL_KINDS: dict[str, type[Settings]] = {
    "recurrent": RecurrentSettings,
    "convolutional": ConvolutionalSettings,
    "fixed_window": FixedWindowSettings,
    "transformer": TransformerSettings,
    "vision_transformer": VisionTransformerSettings,
    "image_convolutional": ImageConvolutionalSettings,
    "n_gram_bag": NGramBagSettings,
}


def require_sequence_settings(settings: ModelSettings) -> SequenceSettings:
    """The settings of a network with one output per step; settings of an image network or of a bag are
    rejected.
    """
    if isinstance(settings, ImageSettings):
        raise RecipeError(
            f"a {settings.kind} network reads a whole image, but this task needs an output for every step.",
            where="model.kind",
            cure=(
                "Use --model lstm, --model cnn or --model transformer; image networks support"
                " classification and captioning."
            ),
        )
    if isinstance(settings, NGramBagSettings):
        raise RecipeError(
            "a bag of n-grams ignores the order of steps, but this task needs an output for every step.",
            where="model.kind",
            cure="Use --model lstm, --model cnn or --model transformer; a bag supports classification only.",
        )
    return settings


def max_known_length(settings: ModelSettings) -> int | None:
    """Steps that the learned positions of a network know; None where any number can be read."""
    return (
        settings.max_positions
        if isinstance(settings, TransformerSettings) and settings.positions == "learned"
        else None
    )
