"""What a task is: the whole story of one job, in the order in which the data meets it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.batches.store import Store
from seqlab.core.errors import UsageError
from seqlab.metrics.items import Items
from seqlab.metrics.score import Score
from seqlab.metrics.token_stream import TokenStream
from seqlab.pages.sections.base import ReportSection
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.teacher import Teacher
from seqlab.training.base import BatchLoss, Carry, Validation

AnySection = TypeVar("AnySection", bound=ReportSection)
LONGEST_SHOWN = 80
ENCODING = 4
"""Raised whenever tasks encode anything differently, so that stores made before are not used."""


@dataclass(frozen=True)
class Prediction:
    """One answer: the likeliest, its probability, and the best alternatives.

    A predicted number has no probability; its ranking holds two other numbers, each with the share of truths
    that lie below it.
    """

    input: str
    answer: str
    probability: float | None
    ranking: list[tuple[str, float]]

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{share:.4f}</td></tr>" for name, share in self.ranking
        )
        sure = "" if self.probability is None else f" ({self.probability:.3f})"
        return f"<b>{escape(self.answer)}</b>{sure}<table>{rows}</table>"


@dataclass(frozen=True)
class Evaluation:
    """Scores on one split, and what stands behind them as plain data for the report."""

    split: str
    scores: list[Score]
    sections: list[ReportSection] = field(default_factory=list)
    items: Mapping[str, Items] = field(default_factory=dict)
    """What the scores are made of, by their names: the independent units of the split, from which comparisons
    and slices are computed.
    """
    answers: Sequence[tuple[str, ...]] = ()
    """For each item the label that it got, or the tags of its words, where there are any."""
    truths: Sequence[tuple[str, ...]] = ()
    """The labels or tags that would have been right."""
    stream: TokenStream | None = None
    """A scored text, for models that cut it into different tokens."""

    def sections_as_json(self) -> dict[str, Any]:
        """Every section by its kind, as results.json keeps it."""
        return {section.kind: section.to_json() for section in self.sections}

    def section(self, kind: type[AnySection]) -> AnySection | None:
        """The section of a kind, where there is one."""
        return next((section for section in self.sections if isinstance(section, kind)), None)


class Task(ABC):
    """Binds sources, tokens, batches, model, loss, metrics and predictions for one job."""

    recipe: Recipe
    stores: dict[str, Store]
    """The encoded splits by name."""
    notes: list[str]
    """What the user should know about the data."""
    teacher: Teacher | None = None
    """A finished model whose answers are learned besides the targets."""

    @classmethod
    @abstractmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        """Learn vocabularies and scales, from the training split only."""

    @classmethod
    @abstractmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        """The task that `save` wrote: ready to predict, or to be given data again."""

    @abstractmethod
    def save(self, folder: Path) -> None: ...

    @abstractmethod
    def attach(self, split: str, source: Source) -> None:
        """Encode a split and keep it at hand under its name (train, valid, test)."""

    @abstractmethod
    def build_model(self) -> nn.Module: ...

    def prime(self, model: nn.Module) -> None:  # noqa: B027 - most tasks have nothing to do here
        """Let the parts of a new network that count see the training split once, before the first update.

        Most networks have none.
        """

    @abstractmethod
    def loader(self, cursor: Cursor) -> Loader: ...

    @abstractmethod
    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss: ...

    @abstractmethod
    def validate(self, model: nn.Module) -> Validation: ...

    @abstractmethod
    def describe_rows(self, batch: Batch) -> str: ...

    @abstractmethod
    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        """Scores with intervals, beside their baselines."""

    @abstractmethod
    def predict(self, model: nn.Module, inputs: Sequence[Any], *, top: int) -> list[Prediction]: ...

    def shown_items(self, split: str, wanted: Collection[int]) -> dict[int, tuple[str, Any]]:
        """Where some items of a split stand in the data, and what is read there; nothing where an item is no
        row.
        """
        return {}

    def source_lengths(self, split: str) -> tuple[str, Float[np.ndarray, " items"]] | None:
        """How long what is read for every item of a split is, and in what that is counted, whatever the
        tokens; None where it makes no difference.
        """
        return None

    def settle(self, model: nn.Module) -> dict[str, Any]:
        """What is chosen on the validation split once training has ended, such as a temperature or
        thresholds: plain data, already in use.
        """
        return {}

    def take(self, choices: Mapping[str, Any]) -> None:  # noqa: B027 - most tasks have nothing to do here
        """Use choices that were made when the run was trained. One that cannot be right raises ValueError."""

    def sample(self, model: nn.Module) -> str:
        """A piece of what the model makes at this moment, for the story that a report tells; nothing for
        tasks that make nothing.
        """
        return ""

    def item_places(self, split: str) -> Iterable[tuple[str, int]]:
        """The file and line of every item of a split, in their order; nothing where an item is no row."""
        return ()

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        """Inputs as the steps that the body of the model reads, one array for each; for vectors."""
        raise UsageError(f"a run of the task {self.recipe.task} gives no vectors.")

    def example_input(self) -> str:
        """An input that a user could type, for the commands that a report suggests."""
        return "some text"

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        """What each step stands for, in words."""
        raise UsageError(f"the steps of the task {self.recipe.task} are no pieces of text.")


def shown(text: str) -> str:
    """A text cut to one readable line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 1] + "…"
