"""Weights averaged over the updates: what is validated and saved in place of the last ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

WARM_UP = 9
"""After this many updates half of the average is older than the last weights, whatever the decay: the first weights are soon forgotten."""


class WeightAverage:
    """An exponential moving average of every trained parameter.

        average <- d average + (1 - d) weights,     d = min(decay, t / (t + 9)) at update t

    The weights of single updates swing around the value that they tend to; their average does not. It is never trained: the optimizer goes on
    with the weights themselves.
    Papers: Polyak & Juditsky 1992, "Acceleration of Stochastic Approximation by Averaging", SIAM J. Control Optim. 30(4);
    Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima and Better Generalization", arXiv:1803.05407.
    """

    def __init__(self, model: nn.Module, *, decay: float) -> None:
        self.decay = decay
        self._parameters = {name: each for name, each in model.named_parameters() if each.requires_grad}
        self._averages = {name: each.detach().clone() for name, each in self._parameters.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after update number `step` (the first is 1)."""
        kept = min(self.decay, step / (step + WARM_UP))
        for name, each in self._parameters.items():
            self._averages[name].lerp_(each, 1 - kept)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model has the averaged weights for a while, and its own ones again afterwards, to the last bit."""
        own = {name: each.detach().clone() for name, each in self._parameters.items()}
        self._put(self._averages)
        try:
            yield
        finally:
            self._put(own)

    @torch.no_grad()
    def _put(self, weights: Mapping[str, Tensor]) -> None:
        for name, each in self._parameters.items():
            each.copy_(weights[name])

    def state(self) -> dict[str, Tensor]:
        """The averages under the names of their parameters."""
        return dict(self._averages)

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        for name, average in self._averages.items():
            average.copy_(state[name])


class NoAverage:
    """Leaves the last weights where they are."""

    def update(self, step: int) -> None: ...

    @contextmanager
    def in_place(self) -> Iterator[None]:
        yield

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None: ...


def build_average(model: nn.Module, *, decay: float) -> WeightAverage | NoAverage:
    """What a decay asks for; 0 averages nothing."""
    return WeightAverage(model, decay=decay) if decay else NoAverage()
