"""The section `language_model` of a recipe. No torch here."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.tasks.text.settings import WindowSettings


class LanguageModelSettings(WindowSettings):
    """How a language model reads a text while it learns (truncated BPTT), and its softmax."""

    stateful: bool = Field(
        True,
        description=(
            "A recurrent model starts each window from the state at the end of the previous one; false starts"
            " from its initial state."
        ),
    )
    bptt_steps: int = Field(
        0,
        ge=0,
        description=(
            "Steps over which gradients of a recurrent model flow (truncated BPTT); 0: the whole window."
        ),
    )
    reset_at_documents: bool = Field(
        True,
        description=(
            "A recurrent model starts every document of a table, or line of words, from its initial state."
        ),
    )
    softmax: Literal["auto", "full", "sampled"] = Field(
        "auto",
        description=(
            "Softmax of an update: over the full vocabulary, or over a sample of it; auto samples above"
            " 10,000 tokens."
        ),
    )
    softmax_samples: int = Field(
        2048, ge=1, description="Tokens of a sampled softmax; frequent tokens are always among them."
    )
