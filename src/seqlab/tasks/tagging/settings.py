"""The section `tagging` of a recipe. Does not import torch."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.core.settings import Settings
from seqlab.models.settings.recurrent import Width


class TaggingSettings(Settings):
    """How a tagger encodes words and decodes tags."""

    characters: Literal["none", "convolutional", "recurrent"] = Field(
        "none",
        description=(
            "Encoder for the characters of a word, in addition to its word vector; if not set, the task chooses."
        ),
    )
    character_size: int = Field(
        0,
        ge=0,
        description="Size of the character features within the embedding; 0 uses half of it.",
    )
    character_embedding: int = Field(32, ge=1, description="Size of a character embedding.")
    character_widths: tuple[Width, ...] = Field(
        (2, 3, 4, 5), min_length=1, description="Kernel widths of the character convolutions, in characters."
    )
    max_word_length: int = Field(
        20,
        ge=4,
        le=1000,
        description="Maximum characters read of a word, including two boundary marks; longer words keep both ends.",
    )
    word_dropout: float = Field(
        1.0,
        ge=0,
        description=(
            "With characters: in training, a word seen n times becomes unknown with probability w / (w + n); 0"
            " disables it."
        ),
    )
    crf: bool = Field(
        False,
        description=(
            "Add a linear-chain CRF, which learns tag transitions and decodes all tags of a sentence jointly."
        ),
    )
