"""Weights averaged over the updates: a second candidate, beside the last weights, for what a run saves."""

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
"""After this many updates half of the average is older than the last weights, whatever the decay: the first
weights are soon forgotten.
"""


SHARE_FOR_AVERAGE = 0.2
"""Snapshots are spread over this last share of a run when nobody says how far apart they are."""


class Average(ABC):
    """Weights that are validated beside the last ones.

    They are never trained: the optimizer continues with the weights themselves.
    """

    def __init__(self, model: nn.Module) -> None:
        self._parameters = {
            name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad
        }

    @abstractmethod
    def update(self, step: int, settings: TrainingSettings, *, total_steps: int) -> None:
        """Take in the weights after update number `step` (the first is 1) of a run of `total_steps`, which
        may be planned anew at any time.
        """

    @abstractmethod
    def averages(self) -> Mapping[str, Tensor]:
        """The averaged weights by name; empty while there are none."""

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """All that a resume needs."""

    @abstractmethod
    def load_state(self, state: Mapping[str, Tensor]) -> None: ...

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model has the averaged weights for a while, and its own ones again afterwards, to the last
        bit.
        """
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

    The weights of single updates swing around the value that they tend to; their average does not. Papers:
    Polyak & Juditsky 1992, "Acceleration of Stochastic Approximation by Averaging", SIAM J. Control Optim.
    30(4); Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima and Better Generalization",
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
        """The averages under the names of their parameters."""
        return dict(self._averages)

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        for name, average in self._averages.items():
            average.copy_(state[name])


class LastWeights(Average):
    """The mean of the last few of regular snapshots, as Transformers that translate are usually averaged.

    A snapshot counts while it is no older than all of them together span. So a plan that becomes shorter
    drops those from before its end part.

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
    """There are only the last weights."""

    def update(self, step: int, settings: TrainingSettings, *, total_steps: int) -> None: ...

    def averages(self) -> Mapping[str, Tensor]:
        return {}

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None: ...


def build_average(model: nn.Module, settings: TrainingSettings) -> Average:
    """What the settings ask for."""
    if settings.ema_decay:
        return MovingAverage(model)
    if settings.average_checkpoints:
        return LastWeights(model)
    return NoAverage(model)


Weights = Literal["averaged", "last"]


def better_weights(candidates: Mapping[Weights, Validation]) -> Weights:
    """The weights with the better validation; averaged ones where both are equally good, for they vary less.

    >>> better_weights({"averaged": Validation(0.7, higher_is_better=True), "last": Validation(0.8, higher_is_better=True)})
    'last'
    """
    averaged, last = candidates.get("averaged"), candidates["last"]
    if averaged is None or last.beats(averaged.value) or last.wins_tie(averaged.value, averaged.loss):
        return "last"
    return "averaged"
