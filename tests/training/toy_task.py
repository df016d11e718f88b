"""A task without data files: points on two sides of a plane.

The smallest thing that the training loop can train.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.batches.samplers import Indices, ShuffledSampler
from seqlab.training.base import BatchLoss, Carry, Validation
from seqlab.training.budget import Budget
from seqlab.training.loop import TrainingLoop
from seqlab.training.settings import TrainingSettings

CPU = torch.device("cpu")


class Points:
    """Two classes of points.

    Validation gives true losses and accuracies, or the values it was told to give.
    """

    def __init__(
        self, *, num_points: int = 35, batch_size: int = 8, values: Sequence[float] = (), scale: float = 1.0
    ) -> None:
        random = np.random.default_rng(5)
        self.inputs = torch.tensor(random.normal(size=(num_points, 1, 3)) * scale, dtype=torch.float32)
        self.targets = (self.inputs.sum(dim=(1, 2)) > 0).long()
        self.batch_size = batch_size
        self.values = list(values)
        self.modes: list[tuple[str, bool]] = []
        self.steps: list[int] = []
        self.taken: list[list[int]] = []

    def loader(self, cursor: Cursor) -> Loader:
        return Loader(
            ShuffledSampler(len(self.inputs), batch_size=self.batch_size, seed=2),
            self._collate,
            cursor=cursor,
        )

    def _collate(self, rows: Indices, is_first: bool) -> Batch:
        self.taken.append(rows.tolist())
        return Batch(
            self.inputs[rows],
            torch.ones(len(rows), 1, dtype=torch.bool),
            {"label": self.targets[rows]},
            torch.from_numpy(rows),
        )

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        self.modes.append(("loss", model.training))
        self.steps.append(step)
        logits: Tensor = model(batch.inputs.flatten(1))
        correct = int((logits.argmax(dim=1) == batch["label"]).sum())
        return BatchLoss(
            F.cross_entropy(logits, batch["label"], reduction="sum"),
            len(batch["label"]),
            correct,
            carry=(torch.rand(2, 3),),
        )

    def validate(self, model: nn.Module) -> Validation:
        self.modes.append(("validate", model.training))
        logits: Tensor = model(self.inputs.flatten(1)).detach()
        loss = float(F.cross_entropy(logits, self.targets))
        accuracy = float((logits.argmax(dim=1) == self.targets).float().mean())
        value = self.values.pop(0) if self.values else loss
        return Validation(
            value, higher_is_better=False, facts={"valid_loss": loss, "valid_accuracy": accuracy}
        )

    def sample(self, model: nn.Module) -> str:
        return ""

    def describe_rows(self, batch: Batch) -> str:
        return f"points {batch.rows.tolist()}"


def small_model(*, dropout: float = 0.0, seed: int = 7) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Dropout(dropout), nn.Linear(5, 2))


def make_trainer(
    folder: Path,
    *,
    task: Points | None = None,
    model: nn.Module | None = None,
    dropout: float = 0.0,
    **settings: Any,
) -> TrainingLoop:
    """A trainer of the toy task; settings are those of the recipe's section `training`."""
    task = task or Points()
    chosen = TrainingSettings(**{"steps": 20, "evaluate_every": 5, **settings})
    steps_per_epoch = -(-len(task.inputs) // task.batch_size)
    budget = Budget.plan(chosen, steps_per_epoch=steps_per_epoch, step_seconds=0.01, validation_seconds=0.01)
    folder.mkdir(parents=True, exist_ok=True)
    return TrainingLoop(
        model or small_model(dropout=dropout), task, chosen, budget, folder=folder, device=CPU
    )
