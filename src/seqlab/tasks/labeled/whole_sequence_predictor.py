"""The predictor of tasks with one answer for a whole sequence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Float

from seqlab.sources.base import Row
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.labeled.prediction_batches import prediction_batches
from seqlab.tasks.labeled.whole_sequence_codec import WholeSequenceCodec
from seqlab.tasks.prediction import Prediction
from seqlab.tasks.predictor import Predictor

AnyCodec = TypeVar("AnyCodec", bound=WholeSequenceCodec)
AnyCalibration = TypeVar("AnyCalibration", bound=Calibration)


class WholeSequencePredictor(Predictor[AnyCodec, AnyCalibration]):
    """Runs the network over batches of inputs."""

    @abstractmethod
    def decode(self, text: str, output: Float[np.ndarray, " outputs"], *, top: int) -> Prediction:
        """Turn the outputs for one input into a prediction. text: the input as the prediction shows it."""

    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        batches = prediction_batches(self.codec.input_rows(inputs), self.codec.inputs.column)
        return [
            self.decode(self.codec.display_input(row), output, top=top)
            for rows in batches
            for row, output in zip(rows, self._run(rows), strict=True)
        ]

    @torch.inference_mode()
    def _run(self, rows: list[Row]) -> Float[np.ndarray, "batch outputs"]:
        inputs, is_token = self.codec.pad([steps for _, steps in self.codec.inputs.encode(rows)])
        device = next(self.model.parameters()).device
        outputs: Float[np.ndarray, "batch outputs"] = (
            self.model(inputs.to(device), is_token.to(device)).float().cpu().numpy()
        )
        return outputs
