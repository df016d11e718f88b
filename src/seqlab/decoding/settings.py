"""The section `decoding` of a recipe: how sequences are generated."""

from __future__ import annotations

from pydantic import Field

from seqlab.core.settings import Settings


class DecodingSettings(Settings):
    """How the next token is chosen and when to stop."""

    temperature: float = Field(
        0.8, ge=0, le=100, description="Divides the logits: below 1 is bolder, above 1 more random, 0 always takes the likeliest."
    )
    top_k: int = Field(0, ge=0, description="Choose among this many likeliest tokens; 0 considers all.")
    top_p: float = Field(1.0, gt=0, le=1, description="Choose among the likeliest tokens that together have this probability.")
    max_tokens: int = Field(200, ge=1, description="Stop after this many new tokens.")
    context: int = Field(0, ge=0, description="Tokens on which a model without a state looks back while writing; 0 takes training.window.")
    seed: int = Field(1, ge=0, description="Fixes the random choices.")
