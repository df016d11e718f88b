"""What every task that learns from a stream of text sets. No torch here."""

from __future__ import annotations

from pydantic import Field

from seqlab.core.settings import Settings


class WindowSettings(Settings):
    """How much of a text the model sees at once."""

    window: int = Field(128, ge=2, description="Tokens of the text that the model sees at once.")
