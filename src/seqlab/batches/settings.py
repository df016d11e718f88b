"""The section `masking` of a recipe: which tokens a masked language model has to find again, and what it sees
in their places.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from seqlab.core.settings import Settings


class MaskingSettings(Settings):
    """Which tokens are chosen, and what stands in their places."""

    share: float = Field(
        0.15, gt=0, lt=1, description="Share of the tokens that the model has to find again."
    )
    mask_share: float = Field(
        0.8, gt=0, le=1, description="Share of the chosen tokens that are hidden behind the mask token."
    )
    random_share: float = Field(
        0.1,
        ge=0,
        lt=1,
        description=(
            "Share of the chosen tokens that another token, drawn at random, stands for; those that are left"
            " stay visible."
        ),
    )
    whole_words: bool = Field(False, description="Choose whole words: all pieces of a chosen word together.")
    dynamic: bool = Field(
        True,
        description="Choose anew in every epoch, as RoBERTa does; false chooses once, as the first BERT did.",
    )

    @model_validator(mode="after")
    def _shares_are_parts_of_one_whole(self) -> Self:
        if self.mask_share + self.random_share > 1 + 1e-9:
            raise ValueError(
                f"mask_share and random_share add up to {self.mask_share + self.random_share:g}, more than"
                " all chosen tokens. Lower one of them; what is left of 1 stays visible."
            )
        return self
