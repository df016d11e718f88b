"""How much context the network sees before each token, from the recipe and its backbone."""

from __future__ import annotations

from dataclasses import dataclass

from seqlab.models.base import backbones
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.language_model.spec import LanguageModelSettings
from seqlab.tasks.text.documents import BY_LINE


@dataclass(frozen=True)
class ContextPolicy:
    """The context rules, which are the same for training, scoring and generation."""

    window: int
    """Tokens that are read at once. A stateless network sees no more than these."""
    carries_state: bool
    """Whether a window starts from the state after the previous one."""
    resets_at_documents: bool
    """Whether every document starts from the initial state.

    The end token of one document is the first token that the next one reads.
    """
    has_documents: bool
    """Whether the training data has documents (rows, or lines of words), each with an end token."""

    @classmethod
    def from_recipe(cls, recipe: Recipe) -> ContextPolicy:
        settings = recipe.section(LanguageModelSettings)
        is_stateful = backbones.get(recipe.model.kind).is_stateful
        return cls(
            window=settings.window,
            carries_state=settings.stateful and is_stateful,
            resets_at_documents=settings.reset_at_documents and is_stateful,
            has_documents=recipe.tokens.kind in BY_LINE
            or (bool(recipe.data.train) and settings.reset_at_documents),
        )
