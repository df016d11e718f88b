"""Weight averaging: averaged weights are validated next to the last ones, and a run saves the better of the
two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor, nn

from seqlab.training.base import Validation
from seqlab.training.settings import TrainingSettings

WARM_UP = 9
"""Warm-up of the moving average: caps the decay at t / (t + 9), so the initial weights are soon forgotten."""


SHARE_FOR_AVERAGE = 0.2
"""Without `average_every`, snapshots are spread over this last share of a run."""


class Average(ABC):
    """Averaged weights that are validated next to the last ones.

    They are never trained; the optimizer keeps updating the weights themselves.
    """

    def __init__(self, model: nn.Module) -> None:
        self._parameters = {
            name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad
        }

    @abstractmethod
    def update(self, step: int, settings: TrainingSettings, *, total_steps: int) -> None:
        """Add the weights after update `step` (1-based) of a run of `total_steps`, which may be replanned
        at any time.
        """

    @abstractmethod
    def averages(self) -> Mapping[str, Tensor]:
        """Return the averaged weights by name; empty if there are none yet."""

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Return everything a resume needs."""

    @abstractmethod
    def load_state(self, state: Mapping[str, Tensor]) -> None: ...

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Swap the averaged weights into the model, and restore its own weights bit for bit on exit."""
        averages = self.averages()
        backup = {name: self._parameters[name].detach().clone() for name in averages}
        self._put(averages)
        try:
            yield
        finally:
            self._put(backup)

    @torch.no_grad()
    def _put(self, weights: Mapping[str, Tensor]) -> None:
        for name, tensor in weights.items():
            self._parameters[name].copy_(tensor)


class MovingAverage(Average):
    """An exponential moving average of every trained parameter.

        average <- d average + (1 - d) weights,     d = min(decay, t / (t + 9)) at update t

    Individual updates oscillate around the value they converge to; their average does not. Papers: Polyak &
    Juditsky 1992, "Acceleration of Stochastic Approximation by Averaging", SIAM J. Control Optim. 30(4);
    Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima and Better Generalization",
    arXiv:1803.05407.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        self._averages = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}

    @torch.no_grad()
    def update(self, step: int, settings: TrainingSettings, *, total_steps: int) -> None:
        decay = min(settings.ema_decay, step / (step + WARM_UP))
        for name, parameter in self._parameters.items():
            self._averages[name].lerp_(parameter, 1 - decay)

    def averages(self) -> Mapping[str, Tensor]:
        return self._averages

    def state(self) -> dict[str, Tensor]:
        """Return the averages under the names of their parameters."""
        return dict(self._averages)

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        for name, average in self._averages.items():
            average.copy_(state[name])


class CheckpointAverage(Average):
    """The mean of the last few regular snapshots (checkpoint averaging), common for translation Transformers.

    A snapshot counts as long as it lies within the span of all of them, so replanning a run to fewer steps
    drops the older ones.

    Paper: Vaswani et al. 2017, arXiv:1706.03762, section 6.1 (the last five checkpoints).
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        self._snapshots: dict[int, dict[str, Tensor]] = {}

    @property
    def steps(self) -> list[int]:
        """The updates after which the snapshots were taken."""
        return sorted(self._snapshots)

    def update(self, step: int, settings: TrainingSettings, *, total_steps: int) -> None:
        count = settings.average_checkpoints
        every = settings.average_every or max(1, int(total_steps * SHARE_FOR_AVERAGE / count))
        if step % every == 0:
            self._snapshots[step] = {
                name: parameter.detach().clone() for name, parameter in self._parameters.items()
            }
        recent = [taken for taken in self.steps if taken > step - count * every][-count:]
        self._snapshots = {taken: self._snapshots[taken] for taken in recent}

    def averages(self) -> Mapping[str, Tensor]:
        if not self._snapshots:
            return {}
        return {
            name: torch.stack([self._snapshots[taken][name] for taken in self.steps]).mean(dim=0)
            for name in self._parameters
        }

    def state(self) -> dict[str, Tensor]:
        return {
            f"{taken}.{name}": tensor
            for taken, snapshot in self._snapshots.items()
            for name, tensor in snapshot.items()
        }

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        taken = sorted({int(name.partition(".")[0]) for name in state})
        self._snapshots = {
            step: {
                name: state[f"{step}.{name}"].to(parameter) for name, parameter in self._parameters.items()
            }
            for step in taken
        }


class NoAverage(Average):
    """No averaging: only the last weights are validated."""

    def update(self, step: int, settings: TrainingSettings, *, total_steps: int) -> None: ...

    def averages(self) -> Mapping[str, Tensor]:
        return {}

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None: ...


def build_average(model: nn.Module, settings: TrainingSettings) -> Average:
    """Build the average that the settings ask for."""
    if settings.ema_decay:
        return MovingAverage(model)
    if settings.average_checkpoints:
        return CheckpointAverage(model)
    return NoAverage(model)


Weights = Literal["averaged", "last"]


def better_weights(candidates: Mapping[Weights, Validation]) -> Weights:
    """Return which weights validate better; on a tie the averaged ones, because they vary less.

    >>> better_weights({"averaged": Validation(0.7, higher_is_better=True), "last": Validation(0.8, higher_is_better=True)})
    'last'
    """
    averaged, last = candidates.get("averaged"), candidates["last"]
    if averaged is None or last.beats(averaged.value) or last.wins_tie(averaged.value, averaged.loss):
        return "last"
    return "averaged"
