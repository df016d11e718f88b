"""Weights averaged over the updates: what is validated and saved in place of the last ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from seqlab.training.settings import TrainingSettings

WARM_UP = 9
"""After this many updates half of the average is older than the last weights, whatever the decay: the first weights are soon forgotten."""


class Average(ABC):
    """Weights that are validated and saved in place of the last ones. They are never trained: the optimizer goes on with the weights themselves."""

    def __init__(self, model: nn.Module) -> None:
        self._parameters = {name: each for name, each in model.named_parameters() if each.requires_grad}

    @abstractmethod
    def update(self, step: int) -> None:
        """Take in the weights after update number `step` (the first is 1)."""

    @abstractmethod
    def averages(self) -> Mapping[str, Tensor]:
        """The averaged weights by name; nothing where the last ones are to stay."""

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """All that a resume needs."""

    @abstractmethod
    def load_state(self, state: Mapping[str, Tensor]) -> None: ...

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model has the averaged weights for a while, and its own ones again afterwards, to the last bit."""
        averages = self.averages()
        own = {name: self._parameters[name].detach().clone() for name in averages}
        self._put(averages)
        try:
            yield
        finally:
            self._put(own)

    @torch.no_grad()
    def _put(self, weights: Mapping[str, Tensor]) -> None:
        for name, tensor in weights.items():
            self._parameters[name].copy_(tensor)


class MovingAverage(Average):
    """An exponential moving average of every trained parameter.

        average <- d average + (1 - d) weights,     d = min(decay, t / (t + 9)) at update t

    The weights of single updates swing around the value that they tend to; their average does not.
    Papers: Polyak & Juditsky 1992, "Acceleration of Stochastic Approximation by Averaging", SIAM J. Control Optim. 30(4);
    Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima and Better Generalization", arXiv:1803.05407.
    """

    def __init__(self, model: nn.Module, *, decay: float) -> None:
        super().__init__(model)
        self.decay = decay
        self._averages = {name: each.detach().clone() for name, each in self._parameters.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        kept = min(self.decay, step / (step + WARM_UP))
        for name, each in self._parameters.items():
            self._averages[name].lerp_(each, 1 - kept)

    def averages(self) -> Mapping[str, Tensor]:
        return self._averages

    def state(self) -> dict[str, Tensor]:
        """The averages under the names of their parameters."""
        return dict(self._averages)

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        for name, average in self._averages.items():
            average.copy_(state[name])


class LastWeights(Average):
    """The mean of the weights at the last few of regular moments, as Transformers that translate are usually averaged.

    Paper: Vaswani et al. 2017, arXiv:1706.03762, section 6.1 (the last five checkpoints).
    """

    def __init__(self, model: nn.Module, *, count: int, every: int) -> None:
        super().__init__(model)
        self.count, self.every = count, every
        self._kept: list[dict[str, Tensor]] = []

    def update(self, step: int) -> None:
        if step % self.every == 0:
            self._kept = [*self._kept, {name: each.detach().clone() for name, each in self._parameters.items()}][-self.count :]

    def averages(self) -> Mapping[str, Tensor]:
        if not self._kept:
            return {}
        return {name: torch.stack([each[name] for each in self._kept]).mean(dim=0) for name in self._parameters}

    def state(self) -> dict[str, Tensor]:
        return {f"{place}.{name}": tensor for place, each in enumerate(self._kept) for name, tensor in each.items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        places = sorted({int(name.partition(".")[0]) for name in state})
        self._kept = [{name: state[f"{place}.{name}"].to(each) for name, each in self._parameters.items()} for place in places]


class NoAverage(Average):
    """Leaves the last weights where they are."""

    def update(self, step: int) -> None: ...

    def averages(self) -> Mapping[str, Tensor]:
        return {}

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None: ...


def build_average(model: nn.Module, settings: TrainingSettings) -> Average:
    """What the settings ask for."""
    if settings.average:
        return MovingAverage(model, decay=settings.average)
    if settings.average_last:
        return LastWeights(model, count=settings.average_last, every=settings.average_every)
    return NoAverage(model)
