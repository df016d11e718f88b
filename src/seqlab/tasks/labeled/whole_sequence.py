"""Network, objective and predictor of tasks with one answer per sequence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.models.classifier import build_classifier
from seqlab.models.count_statistics import Example, fit_count_statistics
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.inputs.unknown_tokens import warn_of_unknown
from seqlab.tasks.labeled.split import LabeledSplit, evaluation_batches, prediction_batches, training_loader
from seqlab.tasks.labeled.whole_sequence_codec import WholeSequenceCodec
from seqlab.tasks.objective import Objective
from seqlab.tasks.prediction import Prediction
from seqlab.tasks.predictor import Predictor

Outputs = Float[np.ndarray, "examples outputs"]
AnyCodec = TypeVar("AnyCodec", bound=WholeSequenceCodec)
AnyCalibration = TypeVar("AnyCalibration", bound=Calibration)


def build_sequence_network(codec: WholeSequenceCodec, *, is_exclusive: bool) -> nn.Module:
    """Build the network. is_exclusive: whether exactly one output applies to an example (softmax)."""
    return build_classifier(
        codec.recipe.model,
        embedding=codec.inputs.embedding,
        num_classes=codec.num_outputs,
        num_features=codec.inputs.width,
        is_exclusive=is_exclusive,
        bag=codec.recipe.bag,
    )


@torch.inference_mode()
def outputs_of(model: nn.Module, codec: WholeSequenceCodec, split: LabeledSplit) -> Outputs:
    """Run the network over a split; returns the outputs in file order."""
    outputs = np.empty((len(split), codec.num_outputs), np.float32)
    device = next(model.parameters()).device
    for batch in evaluation_batches(codec, split):
        outputs[batch.rows.numpy()] = (
            model(batch.inputs.to(device), batch.is_token.to(device)).float().cpu().numpy()
        )
    return outputs


class WholeSequenceObjective(Objective[AnyCodec, LabeledSplit]):
    """Training batches, and the statistics of layers that count n-grams."""

    def fit_statistics(self, model: nn.Module) -> None:
        def examples() -> Iterator[Example]:
            for batch in evaluation_batches(self.codec, self.splits["train"]):
                yield batch.inputs, batch.is_token, self.class_membership(batch)

        fit_count_statistics(model, examples)

    def class_membership(self, batch: Batch) -> Float[Tensor, "batch classes"] | None:
        """Return 1 if a sequence belongs to a class, else 0; None if answers are not classes."""
        return None

    def loader(self, cursor: Cursor) -> Loader:
        return training_loader(self.codec, self.splits["train"], self.recipe.training, cursor)

    def describe_rows(self, batch: Batch) -> str:
        return self.splits["train"].describe_rows(batch)


class WholeSequencePredictor(Predictor[AnyCodec, AnyCalibration]):
    """Runs the network over batches of inputs."""

    @abstractmethod
    def decode(self, text: str, output: Float[np.ndarray, " outputs"], *, top: int) -> Prediction:
        """Turn the outputs for one input into a prediction. text: the input as shown in the prediction."""

    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        predictions, unknown = list[Prediction](), list[tuple[str, int]]()
        for rows in prediction_batches(self.codec.input_rows(inputs), self.codec.inputs.column):
            encoded = [steps for _, steps in self.codec.inputs.encode(rows)]
            for row, steps, output in zip(rows, encoded, self._run(encoded), strict=True):
                text = self.codec.display_input(row)
                predictions.append(self.decode(text, output, top=top))
                if self.codec.inputs.is_unknown(steps):
                    unknown.append((text, len(steps)))
        warn_of_unknown(unknown, total=len(predictions))
        return predictions

    @torch.inference_mode()
    def _run(self, sequences: list[NDArray[Any]]) -> Float[np.ndarray, "batch outputs"]:
        inputs, is_token = self.codec.pad(sequences)
        device = next(self.model.parameters()).device
        outputs: Float[np.ndarray, "batch outputs"] = (
            self.model(inputs.to(device), is_token.to(device)).float().cpu().numpy()
        )
        return outputs
