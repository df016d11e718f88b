"""The section `tokens` of a recipe: how text becomes ids."""

from __future__ import annotations

from pydantic import Field

from seqlab.core.settings import Settings
from seqlab.tokens.registry import TokenizerName


class TokenSettings(Settings):
    """Which pieces text is cut into, and which of them are known."""

    kind: TokenizerName = Field(
        TokenizerName(""),
        description=(
            "What a token is: characters, bytes, words, whitespace (words between spaces), bpe, wordpiece,"
            " unigram, hugging_face (of imported weights); empty: the task's."
        ),
    )
    size: int = Field(
        0,
        ge=0,
        description="Known tokens besides the special ones, most frequent first; 0 lets the kind decide.",
    )
    min_count: int = Field(
        1, ge=1, description="A token seen less often than this in the training split is unknown."
    )
    shared: bool = Field(
        False,
        description=(
            "Both sides of a pair share one vocabulary and, with decoder.shared_embedding, one table."
        ),
    )
    target_kind: TokenizerName = Field(
        TokenizerName(""), description="What a token of the target side is; as on the source side when empty."
    )
    target_size: int = Field(
        0, ge=0, description="Known tokens of the target side; as on the source side when 0."
    )
    lowercase: bool = Field(False, description="Lower-case the text before cutting it.")
