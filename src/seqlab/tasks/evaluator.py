"""The part of a task that scores a model beside its baselines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from jaxtyping import Float
from torch import nn

from seqlab.core.errors import UsageError
from seqlab.metrics.score import Score
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.codec import Codec
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.split import Split

AnyCodec = TypeVar("AnyCodec", bound=Codec)
AnySplit = TypeVar("AnySplit", bound=Split)
AnyCalibration = TypeVar("AnyCalibration", bound=Calibration)


class Evaluator(ABC, Generic[AnyCodec, AnySplit, AnyCalibration]):
    """Scores with intervals, baselines learned from the split `train` where there is one, report sections."""

    def __init__(
        self,
        recipe: Recipe,
        codec: AnyCodec,
        splits: Mapping[str, AnySplit],
        calibration: AnyCalibration,
    ) -> None:
        self.recipe = recipe
        self.codec = codec
        self.splits = splits
        self.calibration = calibration

    @abstractmethod
    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        """Score a split. It may be new data, without a split `train` beside it: then there is no baseline.

        The model is in evaluation mode; gradients are on, so run it under `torch.inference_mode()`.
        """

    def calibrate(self, model: nn.Module) -> AnyCalibration:
        """Choose on the split `valid` what the task leaves open until training has ended."""
        return self.calibration

    def locate_items(self, split: str) -> Iterable[tuple[str, int]]:
        """The file and line of every item of a split, in order; empty where an item is not a row."""
        return ()

    def show_items(self, split: str, numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
        """For some items of a split, by number: where they are in the data, and the input there."""
        return {}

    def input_lengths(self, split: str) -> tuple[str, Float[np.ndarray, " items"]] | None:
        """The unit and length of every input of a split, independent of the tokens; None where length does
        not matter.
        """
        return None

    def adapted_scores(self, model: nn.Module, split: str, *, cache: bool, dynamic: bool) -> list[Score]:
        """Scores of a model that adapts to the text while it reads it."""
        raise UsageError(
            f"a run of the task {self.recipe.task} does not adapt to what it reads.",
            cure="Leave out --cache and --dynamic: they are for recurrent language models.",
        )
