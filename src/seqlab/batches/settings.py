"""Which tokens a masked language model predicts, and what it sees in their places."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from seqlab.core.settings import Settings


class MaskingSettings(Settings):
    """Which tokens are chosen, and what replaces them."""

    mlm_probability: float = Field(
        0.15, gt=0, lt=1, description="Fraction of tokens that the model predicts."
    )
    mask_replace_prob: float = Field(
        0.8, gt=0, le=1, description="Fraction of the chosen tokens that are replaced by the mask token."
    )
    random_replace_prob: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Fraction of the chosen tokens that are replaced by a random token; the rest stay"
        " unchanged.",
    )
    whole_word_mask: bool = Field(
        False, description="Mask whole words: all pieces of a chosen word together."
    )
    dynamic_masking: bool = Field(
        True,
        description="Choose new tokens in every epoch, as RoBERTa does; false chooses once, as the original"
        " BERT did.",
    )

    @model_validator(mode="after")
    def _shares_are_parts_of_one_whole(self) -> Self:
        total = self.mask_replace_prob + self.random_replace_prob
        if total > 1 + 1e-9:
            raise ValueError(
                f"mask_replace_prob and random_replace_prob add up to {total:g}, more than 1. Lower one of"
                " them; the remaining fraction of tokens stays unchanged."
            )
        return self
