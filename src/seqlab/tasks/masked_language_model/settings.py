"""The section `masked_language_model` of a recipe. No torch here."""

from __future__ import annotations

from seqlab.batches.settings import MaskingSettings
from seqlab.tasks.text.settings import WindowSettings


class MaskedLanguageModelSettings(MaskingSettings, WindowSettings):
    """How much a masked language model sees at once, and which tokens it has to predict."""
