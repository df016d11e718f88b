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
        "recurrent", description="The family of the network: recurrent, convolutional or transformer."
    )
    cell: AnyCellSettings = Field(
        default_factory=lambda: named_cell("lstm"),
        description="The recurrent cell; its name alone takes the cell's defaults.",
    )
    layers: int = Field(1, ge=1, le=64, description="Layers on top of each other.")
    hidden_size: int = Field(256, ge=1, description="Width of the state.")
    hidden_sizes: tuple[Width, ...] = Field(
        (), max_length=64, description="A width for each layer, in place of layers and hidden_size."
    )
    embedding_size: int = Field(
        0, ge=0, description="Width of what enters; 0 takes the width of the first layer."
    )
    bidirectional: bool = Field(
        False, description="Read in both directions; refused where the future must stay unseen."
    )
    merge: Literal["concat", "mean", "sum", "learned"] = Field(
        "concat",
        description=(
            "How the two directions of a layer become one: side by side, their mean, their sum, or a trained"
            " map of both."
        ),
    )
    residual: bool = Field(
        False, description="Add what enters a layer to what leaves it, where both are equally wide."
    )
    initial_state: Literal["zeros", "random", "xavier", "learned"] = Field(
        "zeros",
        description=(
            "The state before the first step: zeros, drawn anew for every sequence while training (random,"
            " xavier), or learned."
        ),
    )
    initialization: Literal["torch", "orthogonal", "identity", "xavier"] = Field(
        "torch", description="How the weights of the cells start."
    )
    dropout: float = Field(
        0.2, ge=0, lt=1, description="Share of values dropped before each layer while training."
    )
    input_dropout: float = Field(
        -1, ge=-1, lt=1, description="Share of what enters the first layer that is dropped; -1 takes dropout."
    )
    locked_dropout: bool = Field(
        False, description="Drop the same values at every step of a sequence (variational dropout)."
    )
    pooling: Pooling = Field(
        "last",
        description=(
            "How all steps become one vector for a classifier: last, first, max, mean or learned queries."
        ),
    )
    queries: int = Field(
        4, ge=1, le=64, description="Learned queries that look at the steps, with pooling=queries."
    )
    head_size: int = Field(
        0,
        ge=0,
        description="Width of a layer with ReLU between a classifier's vector and its classes; 0 has none.",
    )
    padding_mask: bool = Field(
        True,
        description=(
            "Walk over real steps only; False repeats a common mistake of classifiers, for comparison."
        ),
    )
    tied: bool = Field(
        True,
        description=(
            "A language model's output layer shares the embedding's weights when the widths allow it."
        ),
    )


class ConvolutionalSettings(Settings):
    """A stack of convolutions over time: each layer doubles what a step sees."""

    kind: Literal["convolutional"] = Field(
        "convolutional", description="The family of the network: recurrent, convolutional or transformer."
    )
    layers: int = Field(
        4, ge=1, le=16, description="Layers on top of each other; each looks twice as far as the one below."
    )
    hidden_size: int = Field(128, ge=1, description="Width of every layer.")
    kernel_size: int = Field(
        3, ge=1, le=99, description="Steps that one convolution joins; odd unless the model is causal."
    )
    dropout: float = Field(
        0.2, ge=0, lt=1, description="Share of values dropped after each layer while training."
    )
    pooling: Pooling = Field(
        "max",
        description=(
            "How all steps become one vector for a classifier: last, first, max, mean or learned queries."
        ),
    )
    queries: int = Field(
        4, ge=1, le=64, description="Learned queries that look at the steps, with pooling=queries."
    )
    tied: bool = Field(True, description="A language model's output layer shares the embedding's weights.")


class FixedWindowSettings(Settings):
    """A fixed window: one hidden layer over the last few steps, with no memory of anything earlier."""

    kind: Literal["fixed_window"] = Field("fixed_window", description="The family of the network.")
    context: int = Field(
        9,
        ge=1,
        le=512,
        description=(
            "Steps that the network sees at once, the last one included; odd unless the model is causal."
        ),
    )
    hidden_size: int = Field(512, ge=1, description="Width of the hidden layer.")
    embedding_size: int = Field(
        64, ge=0, description="Width of what enters; 0 takes the width of the hidden layer."
    )
    dropout: float = Field(
        0.1, ge=0, lt=1, description="Share of the hidden layer's values dropped while training."
    )
    pooling: Pooling = Field(
        "max",
        description=(
            "How all steps become one vector for a classifier: last, first, max, mean or learned queries."
        ),
    )
    queries: int = Field(
        4, ge=1, le=64, description="Learned queries that look at the steps, with pooling=queries."
    )
    tied: bool = Field(
        True,
        description=(
            "A language model's output layer shares the embedding's weights when the widths allow it."
        ),
    )


class TransformerSettings(Settings):
    """A Transformer: every step attends to every other step (in a language model, only to earlier ones)."""

    kind: Literal["transformer"] = Field(
        "transformer", description="The family of the network: recurrent, convolutional or transformer."
    )
    layers: int = Field(2, ge=1, le=200, description="Layers on top of each other.")
    hidden_size: int = Field(128, ge=1, description="Width of every layer.")
    heads: int = Field(
        4, ge=1, description="Attention heads; hidden_size must be a multiple unless head_size is given."
    )
    head_size: int = Field(0, ge=0, description="Width of a head; 0 divides hidden_size over the heads.")
    kv_heads: int = Field(
        0,
        ge=0,
        description=(
            "Heads with keys and values of their own, shared by groups of heads; 0 gives one to each head."
        ),
    )
    feedforward_size: int = Field(
        0, ge=0, description="Inner width of the feed-forward network; 0 takes four times hidden_size."
    )
    norm: Literal["pre", "post", "rezero", "shared_rezero", "lecture"] = Field(
        "pre",
        description=(
            "Norm before or after each sub-layer, a learned factor instead (rezero; shared_rezero: one a"
            " layer), or lecture: a slip."
        ),
    )
    norm_kind: Literal["layer", "rms"] = Field(
        "layer", description="LayerNorm, or RMSNorm: without mean and bias."
    )
    norm_eps: float = Field(1e-5, gt=0, description="Added to the variance in each norm.")
    positions: PositionsName = Field(PositionsName("sinusoidal"), description="How a step's place is told.")
    max_positions: int = Field(1024, ge=1, description="Places that learned positions know.")
    rotary_base: float = Field(
        10000.0, gt=1, description="How slowly rotary positions turn: larger for longer texts."
    )
    activation: Literal["relu", "gelu", "gelu_tanh", "silu"] = Field(
        "gelu",
        description=(
            "Activation inside the feed-forward network; gelu_tanh is an approximation of gelu that some"
            " published weights need."
        ),
    )
    gated: bool = Field(
        False, description="A gate in the feed-forward network; with activation silu this is SwiGLU."
    )
    window: int = Field(0, ge=0, description="A step looks only at steps nearer than this; 0 looks at all.")
    dropout: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Share of values dropped after the embedding and inside the feed-forward network.",
    )
    sublayer_dropout: bool = Field(True, description="Also drop from the output of each sub-layer.")
    attention_dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Dropped from the attention weights; more than 0 makes a step 1.1 to 3 times as long.",
    )
    qkv_bias: bool = Field(True, description="Biases in the query, key and value projections.")
    bias: bool = Field(
        True, description="Biases in the output projection of attention and in the feed-forward network."
    )
    embedding_norm: bool = Field(False, description="LayerNorm after the embedding.")
    embedding_norm_eps: float = Field(
        1e-12, gt=0, description="Added to the variance in the LayerNorm after the embedding."
    )
    embedding_scale: bool = Field(
        False, description="Multiply the embedding by the root of hidden_size before positions are added."
    )
    causal: bool = Field(
        False,
        description=(
            "Each step sees only earlier ones in a classifier or tagger too; a language model always does so."
        ),
    )
    padding_mask: bool = Field(
        True,
        description=(
            "Keep padding out of attention and pooling; False repeats a common mistake, for comparison."
        ),
    )
    pooling: Pooling = Field(
        "max",
        description=(
            "How all steps become one vector for a classifier: last, first, max, mean or learned queries."
        ),
    )
    queries: int = Field(
        4, ge=1, le=64, description="Learned queries that look at the steps, with pooling=queries."
    )
    tied: bool = Field(True, description="A language model's output layer shares the embedding's weights.")


class VisionTransformerSettings(TransformerSettings):
    """A Vision Transformer: the patches of an image are the steps of a Transformer."""

    # Each kind has its own name, which for the type checker contradicts that of the parent.
    kind: Literal["vision_transformer"] = Field(
        "vision_transformer", description="The family of the network."
    )  # type: ignore[assignment]  # see above
    patch_size: int = Field(
        4, ge=1, description="Pixels along each side of a patch; height and width must be multiples."
    )
    channels: int = Field(
        1,
        ge=1,
        description="Numbers of one pixel, which stand side by side in a row: 1 for grey, 3 for colours.",
    )
    height: int = Field(0, ge=0, description="Rows of an image; 0 takes as many as there are columns.")
    positions: PositionsName = Field(PositionsName("learned"), description="How a patch's place is told.")
    max_positions: int = Field(
        0, ge=0, description="Places that learned positions know; 0 takes as many as an image needs."
    )
    pooling: Pooling = Field(
        "first",
        description=(
            "How all patches become one vector: first (a learned token that stands before them), last, max,"
            " mean or learned queries."
        ),
    )


class ImageConvolutionalSettings(Settings):
    """A convolutional network for images: stages of 3×3 convolutions, each at half the resolution of the one
    before.
    """

    kind: Literal["image_convolutional"] = Field(
        "image_convolutional", description="The family of the network."
    )
    layers: int = Field(
        2, ge=1, le=8, description="Stages of two convolutions; between two stages the image is halved."
    )
    hidden_size: int = Field(64, ge=1, description="Channels of every stage.")
    channels: int = Field(
        1,
        ge=1,
        description="Numbers of one pixel, which stand side by side in a row: 1 for grey, 3 for colours.",
    )
    height: int = Field(0, ge=0, description="Rows of an image; 0 takes as many as there are columns.")
    non_local: bool = Field(
        False, description="After the first stage, let every place look at every other one."
    )
    non_local_score: ScoreName = Field(
        ScoreName("scaled_dot"), description="How a place is compared with another one, with non_local."
    )
    dropout: float = Field(
        0.2, ge=0, lt=1, description="Share of values dropped after each stage and before the classes."
    )
    pooling: Literal["max", "mean"] = Field(
        "mean", description="How all regions become one vector: max or mean."
    )


class NGramBagSettings(Settings):
    """A bag of n-grams, not a neural network: each n-gram of a text is weighted by how well it separates the
    classes.
    """

    kind: Literal["n_gram_bag"] = Field(
        "n_gram_bag", description="The family of the network; the section bag has its settings."
    )


class BagSettings(Settings):
    """The bag of n-grams that a classifier of text weighs, alone (--model bag) or beside its network."""

    n_grams: int = Field(
        0,
        ge=0,
        le=8,
        description="Longest run of tokens that has a weight; 0: no bag beside a network, 3 in a bag alone.",
    )
    max_features: int = Field(
        0,
        ge=0,
        le=1 << 28,
        description="N-grams that have a weight, those of most texts first; 0 lets the task decide.",
    )
    min_df: int = Field(
        2, ge=1, description="An n-gram that stands in fewer texts of the training split has no weight."
    )


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
    """The settings of a network that answers step by step; those of a network for images, or of a bag, are
    refused.
    """
    if isinstance(settings, ImageSettings):
        raise RecipeError(
            f"a {settings.kind} network reads whole images, and this task asks about every step.",
            where="model.kind",
            cure=(
                "Use --model lstm, --model cnn or --model transformer; images can be classified and"
                " captioned."
            ),
        )
    if isinstance(settings, NGramBagSettings):
        raise RecipeError(
            "a bag of n-grams sees a text as a whole, and this task asks about every step.",
            where="model.kind",
            cure="Use --model lstm, --model cnn or --model transformer; a bag can classify.",
        )
    return settings


def max_known_length(settings: ModelSettings) -> int | None:
    """Steps that the learned positions of a network know; None where any number can be read."""
    return (
        settings.max_positions
        if isinstance(settings, TransformerSettings) and settings.positions == "learned"
        else None
    )
