"""AdamW, with its state as plain named tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw

from seqlab.positions.base import Positions
from seqlab.training.depth import rate_factors
from seqlab.training.settings import TrainingSettings

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


@dataclass
class Moments:
    """What AdamW remembers of one parameter: decaying means of the gradient and of its square, and the updates so far."""

    first: Tensor
    second: Tensor
    count: Tensor


class AdamW:
    """Adam with weight decay beside the gradient, in torch's fused kernel.

        first  <- β₁ first  + (1 - β₁) g
        second <- β₂ second + (1 - β₂) g²
        w      <- w - rate · decay · w - rate · first/(1 - β₁ᵗ) / (√(second/(1 - β₂ᵗ)) + ε)

    Paper: Loshchilov & Hutter 2019, "Decoupled Weight Decay Regularization", arXiv:1711.05101. torch.optim.AdamW does the
    same, but making one imports torch's compiler: seconds that a short run does not have.
    """

    def __init__(self, parameters: Mapping[str, nn.Parameter], decays: Mapping[str, float], factors: Mapping[str, float] | None = None) -> None:
        """factors: what the rate is multiplied with, parameter by parameter; 1 for those that are not named."""
        self._parameters = dict(parameters)
        self._decays = dict(decays)
        self._factors = dict.fromkeys(parameters, 1.0) | dict(factors or {})
        self._moments = {
            name: Moments(torch.zeros_like(each), torch.zeros_like(each), torch.zeros((), device=each.device)) for name, each in parameters.items()
        }

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update with the gradients that stand in the parameters; those without a gradient stay."""
        groups: dict[tuple[float, float], list[str]] = {}
        for name, each in self._parameters.items():
            if each.grad is not None:
                groups.setdefault((self._decays[name], self._factors[name]), []).append(name)
        for (decay, factor), names in sorted(groups.items()):
            self._update(names, rate=rate * factor, decay=decay)

    def _update(self, names: list[str], *, rate: float, decay: float) -> None:
        moments = [self._moments[name] for name in names]
        parameters = [self._parameters[name] for name in names]
        adamw(
            list[Tensor](parameters),
            [parameter.grad for parameter in parameters if parameter.grad is not None],
            [each.first for each in moments],
            [each.second for each in moments],
            [],
            [each.count for each in moments],
            fused=True,
            amsgrad=False,
            beta1=BETA1,
            beta2=BETA2,
            lr=rate,
            weight_decay=decay,
            eps=EPSILON,
            maximize=False,
        )

    def state(self) -> dict[str, Tensor]:
        """Every tensor by name: `first.head.weight` is the first moment of `head.weight`."""
        return {f"{part}.{name}": tensor for name, each in self._moments.items() for part, tensor in vars(each).items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        for name, tensor in self.state().items():
            tensor.copy_(state[name])


def build_optimizer(model: nn.Module, settings: TrainingSettings, *, layer_decay: float = 1.0) -> AdamW:
    """Matrices decay; biases, norms and embeddings (of tokens and of places) do not, unless asked. Frozen parameters are left alone.

    layer_decay: each layer learns at this share of the rate of the one above it.
    """
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    tables |= {id(table) for module in model.modules() if isinstance(module, Positions) for table in module.parameters()}
    factors = rate_factors((name for name, _ in model.named_parameters()), layer_decay=layer_decay)
    parameters = {name: each for name, each in model.named_parameters() if each.requires_grad}
    is_decayed = {name: settings.decay_all or (each.dim() >= 2 and id(each) not in tables) for name, each in parameters.items()}
    decays = {name: settings.weight_decay if decayed else 0.0 for name, decayed in is_decayed.items()}
    return AdamW(parameters, decays, {name: factors[name] for name in parameters})
