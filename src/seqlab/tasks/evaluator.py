"""The evaluator of a task, which scores a model and its baselines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import Any, Generic, Self, TypeVar

import numpy as np
from jaxtyping import Float
from torch import nn

from seqlab.core.errors import UsageError
from seqlab.metrics.score import Score
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.codec import Codec
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.predictor import Predictor
from seqlab.tasks.split import Split

AnyCodec = TypeVar("AnyCodec", bound=Codec)
AnySplit = TypeVar("AnySplit", bound=Split)
AnyPredictor = TypeVar("AnyPredictor", bound=Predictor[Any, Any])


class Evaluator(ABC, Generic[AnyCodec, AnySplit, AnyPredictor]):
    """Computes scores with intervals, baselines fitted on the split `train` if there is one, and report
    sections.
    """

    def __init__(self, codec: AnyCodec, splits: Mapping[str, AnySplit]) -> None:
        self.codec = codec
        self.splits = splits

    @property
    def recipe(self) -> Recipe:
        return self.codec.recipe

    def with_splits(self, splits: Mapping[str, AnySplit]) -> Self:
        """Return the evaluator for other parts of the data with the same split `train`, if any; what was
        fitted on it and cached as a `cached_property` is not fitted again.
        """
        evaluator = copy(self)
        evaluator.splits = splits
        return evaluator

    @abstractmethod
    def evaluate(self, predictor: AnyPredictor, split: str) -> Evaluation:
        """Score the network of a predictor on a split, with its calibration.

        The split may be new data without a split `train`; then there is no baseline. The network is in
        evaluation mode, but gradients are on, so run it under `torch.inference_mode()`.
        """

    def calibrate(self, model: nn.Module) -> Calibration:
        """Choose on the split `valid` what the task can only decide after training."""
        return Calibration()

    def locate_items(self, split: str) -> Iterable[tuple[str, int]]:
        """Return the file and line of every item of a split, in order; empty if items are not rows."""
        return ()

    def show_items(self, split: str, numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
        """Return the location and the input of some items of a split, by number."""
        return {}

    def input_lengths(self, split: str) -> tuple[str, Float[np.ndarray, " items"]] | None:
        """Return the unit and the length of every input of a split, independent of the tokenizer; None if
        length does not matter.
        """
        return None

    def adapted_scores(self, model: nn.Module, split: str, *, cache: bool, dynamic: bool) -> list[Score]:
        """Score a model that adapts to the text as it reads it."""
        raise UsageError(
            f"a {self.recipe.task} run does not support a neural cache or dynamic evaluation.",
            cure="Remove --cache and --dynamic, which are for recurrent language models.",
        )
