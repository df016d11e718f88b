"""The section `decoder` of a recipe: the half of an encoder-decoder that writes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.attention.registry import ScoreName
from seqlab.core.settings import Settings


class DecoderAttentionName(ScoreName):
    """An attention score, or one of the two ways to go without."""

    also = ("constant", "none")


class DecoderSettings(Settings):
    """The half of an encoder-decoder that writes.

    The section model describes the half that reads; what is left out here is as there.
    """

    kind: Literal["", "recurrent", "transformer"] = Field(
        "", description="The family of the decoder; that of the encoder when empty."
    )
    cell: str = Field(
        "", description="The cell of a recurrent decoder; that of a recurrent encoder when empty, else lstm."
    )
    layers: int = Field(
        0, ge=0, le=200, description="Layers of the decoder; 0 takes as many as the encoder has."
    )
    hidden_size: int = Field(0, ge=0, description="Width of the decoder; 0 takes that of the encoder.")
    heads: int = Field(
        0, ge=0, description="Attention heads of a Transformer decoder; 0 takes those of the encoder, or 4."
    )
    attention: DecoderAttentionName = Field(
        DecoderAttentionName("additive"),
        description=(
            "How a recurrent decoder compares its state with the source; constant: the encoder's end enters"
            " each step; none: only the first."
        ),
    )
    alignment: Literal["soft", "hard"] = Field(
        "soft", description="Look at all of the source by weight, or at the one best step."
    )
    projected: bool = Field(
        False, description="Keys and values are learned maps of the encoder's features, not these themselves."
    )
    window: Literal["none", "monotonic", "predicted"] = Field(
        "none",
        description=(
            "Look at the whole source, or only around step t (monotonic) or around a step that the decoder"
            " predicts."
        ),
    )
    reach: int = Field(10, ge=1, description="Steps of the source on either side that a window shows.")
    context: Literal["output", "input"] = Field(
        "output",
        description=(
            "What attention found joins the state before the output layer, or also enters the next step"
            " (input feeding)."
        ),
    )
    bridge: Literal["", "identity", "learned", "mean", "none"] = Field(
        "",
        description=(
            "How a decoder's first state follows from the encoder's last, or from the mean of all; empty:"
            " identity if it fits, else learned."
        ),
    )
    shared_embedding: bool = Field(
        True,
        description=(
            "Where both sides share one vocabulary, they share one embedding table too; false gives the"
            " decoder its own."
        ),
    )
