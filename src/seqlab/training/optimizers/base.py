"""The base class of seqlab's optimizers: a `torch.optim.Optimizer` that does not import torch's compiler."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import torch
from torch import Tensor, nn

from seqlab.training.optimizers.registry import optimizers as optimizers
from seqlab.training.settings import TrainingSettings

Group = dict[str, Any]
"""A parameter group as torch keeps it: `params`, `lr`, `weight_decay` and further options."""


class Optimizer(torch.optim.Optimizer):
    """Parameter groups, state and hooks of torch, with weight decay decoupled from the gradient.

    torch wraps four methods so that its compiler skips them, and the first call of such a wrapper imports
    the compiler, which takes seconds. The unwrapped methods do the same work.
    """

    add_param_group = inspect.unwrap(torch.optim.Optimizer.add_param_group)
    state_dict = inspect.unwrap(torch.optim.Optimizer.state_dict)
    load_state_dict = inspect.unwrap(torch.optim.Optimizer.load_state_dict)
    zero_grad = inspect.unwrap(torch.optim.Optimizer.zero_grad)

    def __init__(
        self, params: Iterable[Any], *, lr: float = 1e-3, weight_decay: float = 0.0, **options: Any
    ) -> None:
        """params: parameters, named parameters or groups of either, as for every torch optimizer."""
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, **options})

    @classmethod
    def from_settings(cls, params: Iterable[Any], settings: TrainingSettings) -> Self:
        """Build the optimizer with the options that a recipe sets."""
        return cls(params)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            if parameters := [parameter for parameter in group["params"] if parameter.grad is not None]:
                for parameter in parameters:
                    if not self.state[parameter]:
                        self.state[parameter] = self.init_state(parameter)
                self.update(parameters, group)
        return loss

    @abstractmethod
    def init_state(self, parameter: Tensor) -> dict[str, Tensor]:
        """Return the state of a parameter before its first update."""

    @abstractmethod
    def update(self, parameters: list[Tensor], group: Group) -> None:
        """Update the parameters of a group, which all have gradients, and their state."""


def gradient_of(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def named_state(optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, Tensor]]:
    """Yield every tensor of the state by name: `exp_avg.head.weight` is the first moment of `head.weight`.

    The optimizer must have been given named parameters.
    """
    for name, parameter in named_parameters(optimizer):
        for part, tensor in optimizer.state.get(parameter, {}).items():
            yield f"{part}.{name}", tensor


def load_named_state(optimizer: torch.optim.Optimizer, state: dict[str, Tensor]) -> None:
    """Replace the state with tensors named as in `named_state`."""
    by_parameter: dict[str, dict[str, Tensor]] = {}
    for key, tensor in state.items():
        part, _, name = key.partition(".")
        by_parameter.setdefault(name, {})[part] = tensor
    optimizer.state.clear()
    for name, parameter in named_parameters(optimizer):
        if name in by_parameter:
            parts = by_parameter.pop(name)
            optimizer.state[parameter] = {
                part: tensor.clone() if part == "step" else tensor.to(parameter.device, copy=True)
                for part, tensor in parts.items()
            }
    assert not by_parameter, f"state of unknown parameters: {sorted(by_parameter)}"


def named_parameters(optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, nn.Parameter]]:
    for group in optimizer.param_groups:
        yield from zip(group["param_names"], group["params"], strict=True)
