"""The section `decoder` of a recipe: the decoder half of an encoder-decoder."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.attention.registry import ScoreName
from seqlab.cells.registry import cells
from seqlab.core.part_name import PartName
from seqlab.core.settings import Settings


class DecoderAttentionName(ScoreName):
    """An attention score, or one of the two ways to decode without attention."""

    also = ("constant", "none")


class DecoderCellName(PartName):
    """A cell, or empty for the encoder's."""

    registry = cells
    also = ("",)


class DecoderSettings(Settings):
    """The decoder of an encoder-decoder.

    The section model describes the encoder; settings that are left out here are taken from it.
    """

    kind: Literal["", "recurrent", "transformer"] = Field(
        "", description="Decoder family; empty uses the encoder's."
    )
    cell: DecoderCellName = Field(
        DecoderCellName(""),
        description=(
            "Cell of a recurrent decoder; empty uses the encoder's cell, or lstm if the"
            " encoder is not recurrent."
        ),
    )
    layers: int = Field(
        0, ge=0, le=200, description="Number of decoder layers; 0 uses as many as the encoder has."
    )
    hidden_size: int = Field(0, ge=0, description="Hidden size of the decoder; 0 uses the encoder's.")
    heads: int = Field(
        0, ge=0, description="Attention heads of a Transformer decoder; 0 uses the encoder's number, or 4."
    )
    attention: DecoderAttentionName = Field(
        DecoderAttentionName("additive"),
        description=(
            "Attention score of a recurrent decoder. constant feeds the encoder's final state into every"
            " step; none uses it only as the initial state."
        ),
    )
    alignment: Literal["soft", "hard"] = Field(
        "soft",
        description=(
            "Soft attention averages over the source; hard attention picks the single best source step."
        ),
    )
    projected: bool = Field(
        False,
        description=(
            "Apply learned projections to the encoder outputs to get keys and values;"
            " false uses the outputs directly."
        ),
    )
    window: Literal["none", "monotonic", "predicted"] = Field(
        "none",
        description=(
            "Attend to the whole source, or only to a window around step t (monotonic) or around a"
            " position that the decoder predicts."
        ),
    )
    reach: int = Field(
        10, ge=1, description=("Source steps on either side of the center of the attention window.")
    )
    context: Literal["output", "input"] = Field(
        "output",
        description=(
            "Combine the context vector with the state only before the output layer, or also feed it"
            " into the next step (input feeding)."
        ),
    )
    bridge: Literal["", "identity", "learned", "mean", "none"] = Field(
        "",
        description=(
            "How the decoder's initial state is computed from the encoder's final state or mean output;"
            " empty uses identity if the sizes match, else learned."
        ),
    )
    shared_embedding: bool = Field(
        True,
        description=(
            "Share one embedding table between encoder and decoder when both use the same vocabulary;"
            " false gives the decoder its own."
        ),
    )
