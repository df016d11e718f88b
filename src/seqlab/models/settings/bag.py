"""Settings of the bag of n-grams, as a model of its own and next to a network."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.core.settings import Settings


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
