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
            "Tokenizer: characters, bytes, words, whitespace (split at spaces), bpe, wordpiece,"
            " unigram, or hugging_face (imported weights); empty uses the task's default."
        ),
    )
    size: int = Field(
        0,
        ge=0,
        description="Vocabulary size without special tokens; the most frequent tokens are kept. 0 uses the"
        " tokenizer's default.",
    )
    min_count: int = Field(
        1,
        ge=1,
        description="Tokens that occur less often than this in the training split are out-of-vocabulary.",
    )
    shared: bool = Field(
        False,
        description=(
            "Whether source and target share one vocabulary and, with decoder.shared_embedding, one"
            " embedding table."
        ),
    )
    target_kind: TokenizerName = Field(
        TokenizerName(""), description="Tokenizer of the target side; same as the source side when empty."
    )
    target_size: int = Field(
        0, ge=0, description="Vocabulary size of the target side; same as the source side when 0."
    )
    lowercase: bool = Field(False, description="Lowercase the text before tokenizing it.")
