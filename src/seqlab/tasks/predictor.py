"""The predictor of a task, which runs a trained network on new inputs."""

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
    """Created once when a run is loaded; everything that can be prepared for all calls is prepared here.

    Nothing changes between calls, so threads can share a predictor.
    """

    def __init__(self, codec: AnyCodec, model: nn.Module, calibration: AnyCalibration) -> None:
        self.codec = codec
        self.model = model
        self.calibration = calibration

    @property
    def recipe(self) -> Recipe:
        return self.codec.recipe

    def with_recipe(self, recipe: Recipe) -> Self:
        """Return the predictor with other decoding settings; what was prepared for the network is shared."""
        predictor = copy(self)
        predictor.codec = replace(self.codec, recipe=recipe)
        return predictor

    @abstractmethod
    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """Return one prediction per input, in order, with up to `top` entries in its ranking.

        An input is what `spec.read_inputs` reads from a file, or what a user types: text, a list of words,
        or steps of numbers. `codec.inputs.row` turns it into a row. The model is in evaluation mode, but
        gradients are on, so run it under `torch.inference_mode()`.
        """

    def score(self, inputs: Sequence[Any]) -> list[TextScore]:
        """Return the log-probability of texts, or of targets given their sources."""
        raise self.unsupported("cannot score texts", "Use a language model or a translation run.")

    def stream(self, prompt: str, settings: DecodingSettings) -> Iterator[str]:
        """Continue a prompt, piece by piece."""
        raise self.unsupported(
            "does not continue text", "Use seqlab predict RUN TEXT; in Python, run.predict([text])."
        )

    def search_tree(self, text: str, *, top: int) -> tuple[Prediction, list[dict[str, Any]]]:
        """Predict one text, and return every hypothesis of its beam search."""
        raise self.unsupported("has no search tree", "Remove it; only translation runs have one.")

    def attend(self, text: str) -> AttentionExample | None:
        """Return the attention over a source while its target is generated; None for a decoder without
        attention.
        """
        raise self.unsupported("has no attention between a source and a target", "Use a translation run.")

    def unsupported(self, what: str, cure: str) -> UsageError:
        """Return the error for something that only other tasks support."""
        return UsageError(f"a {self.recipe.task} run {what}.", cure=cure)
