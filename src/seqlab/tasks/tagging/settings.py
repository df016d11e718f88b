"""The section `tagging` of a recipe. No torch here."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.core.settings import Settings
from seqlab.models.settings.recurrent import Width


class TaggingSettings(Settings):
    """How words enter a tagger, and how their tags are decided."""

    characters: Literal["none", "convolutional", "recurrent"] = Field(
        "none",
        description=(
            "What is made of the characters of a word beside its own vector; where nothing is said, the task"
            " decides."
        ),
    )
    character_size: int = Field(
        0,
        ge=0,
        description="Width of what the characters give, out of the width of what enters; 0 takes half of it.",
    )
    character_embedding: int = Field(32, ge=1, description="Width of the vector of one character.")
    character_widths: tuple[Width, ...] = Field(
        (2, 3, 4, 5), min_length=1, description="Characters in a window, for each group of convolutions."
    )
    max_word_length: int = Field(
        20,
        ge=4,
        le=1000,
        description="Characters read of a word, its two borders among them; of longer ones both ends.",
    )
    word_dropout: float = Field(
        1.0,
        ge=0,
        description=(
            "With characters: while training, a word seen n times is unknown with probability w / (w + n); 0"
            " never."
        ),
    )
    crf: bool = Field(
        False,
        description=(
            "Decide on all tags of a sentence together: a linear chain learns which tags follow each other."
        ),
    )
