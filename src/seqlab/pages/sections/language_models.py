"""A language model compared with simpler ones on the same text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.html import Markup
from seqlab.pages.sections.base import ReportSection, report_sections
from seqlab.pages.study import number_table


@dataclass(frozen=True)
class LanguageModelLine:
    """One of the compared language models."""

    name: str
    nats: float
    perplexity: float


@report_sections.register("language_models")
@dataclass(frozen=True)
class LanguageModels(ReportSection):
    """Scores from unigrams through longer n-grams to the network: the benefit of more context."""

    kind = "language_models"
    title = "Compared with simpler language models"
    position = 10
    models: Sequence[LanguageModelLine]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([LanguageModelLine(**line) for line in value["models"]])

    def html(self) -> Markup:
        return number_table(
            [
                {"model": model.name, "nats per token": model.nats, "perplexity": model.perplexity}
                for model in self.models
            ]
        )
