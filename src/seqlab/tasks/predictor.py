"""The part of a task that answers with a trained network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from torch import nn

from seqlab.core.errors import UsageError
from seqlab.decoding.settings import DecodingSettings
from seqlab.metrics.text_likelihood import TextScore
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.codec import Codec
from seqlab.tasks.prediction import Prediction

if TYPE_CHECKING:  # only what draws attention needs charts
    from seqlab.pages.sections.attention import AttentionExample

AnyCodec = TypeVar("AnyCodec", bound=Codec)
AnyCalibration = TypeVar("AnyCalibration", bound=Calibration)


class Predictor(ABC, Generic[AnyCodec, AnyCalibration]):
    """Made once when a run is loaded: what can be prepared for all calls is prepared here.

    Nothing changes between two calls, so threads may share a predictor.
    """

    def __init__(self, codec: AnyCodec, model: nn.Module, calibration: AnyCalibration) -> None:
        self.codec = codec
        self.model = model
        self.calibration = calibration

    @property
    def recipe(self) -> Recipe:
        return self.codec.recipe

    def with_recipe(self, recipe: Recipe) -> Self:
        """The same predictor with other decoding settings; what was prepared for the network is shared."""
        predictor = copy(self)
        predictor.codec = replace(self.codec, recipe=recipe)
        return predictor

    @abstractmethod
    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """One prediction for each input, in order, with up to `top` entries in its ranking.

        An input is what `spec.read_inputs` reads from a file, or what a user types: text, a list of words, or
        steps of numbers. `codec.inputs.row` makes a row of it. The model is in evaluation mode; gradients are
        on, so run it under `torch.inference_mode()`.
        """

    def score(self, inputs: Sequence[Any]) -> list[TextScore]:
        """The log-probability of given texts, or of given targets after their sources."""
        raise self.unsupported("gives no probability of a text", "Language models and translators do.")

    def stream(self, prompt: str, settings: DecodingSettings) -> Iterator[str]:
        """Continue a prompt, piece by piece."""
        raise self.unsupported("does not continue text", "Use: seqlab predict RUN TEXT")

    def search_tree(self, text: str, *, top: int) -> tuple[Prediction, list[dict[str, Any]]]:
        """The answer to one text, and every candidate of the beam search that found it."""
        raise self.unsupported("has no search tree", "Leave it out: runs that translate have one.")

    def attend(self, text: str) -> AttentionExample | None:
        """The attention over a source while its target is generated; None for a decoder without attention."""
        raise self.unsupported("has no attention between a source and a target", "Runs that translate do.")

    def unsupported(self, what: str, cure: str) -> UsageError:
        """The error for something that another task can do."""
        return UsageError(f"a run of the task {self.recipe.task} {what}.", cure=cure)
