"""An update rule over all parameters of a network: who decays, at which rate, and what is remembered as plain named tensors."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from seqlab.positions.base import Positions
from seqlab.training.layer_depth import rate_factors
from seqlab.training.optimizers.base import UpdateRule, update_rules
from seqlab.training.settings import TrainingSettings


class Optimizer:
    """Updates parameters by a rule, each with its decay and its share of the rate."""

    def __init__(
        self, rule: UpdateRule, parameters: Mapping[str, nn.Parameter], decays: Mapping[str, float], factors: Mapping[str, float] | None = None
    ) -> None:
        """factors: what the rate is multiplied with, parameter by parameter; 1 for those that are not named."""
        self._rule = rule
        self._parameters = dict(parameters)
        self._decays = dict(decays)
        self._factors = dict.fromkeys(parameters, 1.0) | dict(factors or {})
        self._memories = {name: rule.remember(each) for name, each in parameters.items()}

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update with the gradients that stand in the parameters; those without a gradient stay."""
        groups: dict[tuple[float, float], list[str]] = {}
        for name, each in self._parameters.items():
            if each.grad is not None:
                groups.setdefault((self._decays[name], self._factors[name]), []).append(name)
        for (decay, factor), names in sorted(groups.items()):
            parameters, memories = [self._parameters[name] for name in names], [self._memories[name] for name in names]
            self._rule.update(parameters, memories, rate=rate * factor, decay=decay)

    def state(self) -> dict[str, Tensor]:
        """Every tensor by name: `first.head.weight` is the first moment of `head.weight`."""
        return {f"{part}.{name}": tensor for name, memory in self._memories.items() for part, tensor in memory.items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        for name, tensor in self.state().items():
            tensor.copy_(state[name])


def build_optimizer(model: nn.Module, settings: TrainingSettings, *, layer_decay: float = 1.0) -> Optimizer:
    """Matrices decay; biases, norms and embeddings (of tokens and of places) do not, unless asked. Frozen parameters are left alone.

    layer_decay: each layer learns at this share of the rate of the one above it.
    """
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    tables |= {id(table) for module in model.modules() if isinstance(module, Positions) for table in module.parameters()}
    factors = rate_factors((name for name, _ in model.named_parameters()), layer_decay=layer_decay)
    parameters = {name: each for name, each in model.named_parameters() if each.requires_grad}
    is_decayed = {name: settings.decay_all or (each.dim() >= 2 and id(each) not in tables) for name, each in parameters.items()}
    decays = {name: settings.weight_decay if decayed else 0.0 for name, decayed in is_decayed.items()}
    rule = update_rules.get(settings.optimizer).build(settings)
    return Optimizer(rule, parameters, decays, {name: factors[name] for name in parameters})
