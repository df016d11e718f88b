"""Build the optimizer of a model: which parameters are decayed, and the learning-rate factor of each."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from seqlab.positions.base import PositionalEncoding
from seqlab.training.layer_depth import rate_factors
from seqlab.training.optimizers.base import Group, Optimizer, optimizers
from seqlab.training.settings import TrainingSettings


def build_optimizer(model: nn.Module, settings: TrainingSettings, *, layer_decay: float = 1.0) -> Optimizer:
    """Build the optimizer that the settings describe, over the parameters that are not frozen.

    layer_decay: the learning rate of each layer, relative to the layer above it.
    """
    return optimizers.get(settings.optimizer).from_settings(
        parameter_groups(model, settings, layer_decay=layer_decay), settings
    )


def parameter_groups(
    model: nn.Module, settings: TrainingSettings, *, layer_decay: float = 1.0
) -> list[Group]:
    """Group parameters by weight decay and learning rate.

    Weight matrices are decayed; biases, norms and embeddings (of tokens and positions) only with
    `decay_all`.
    """
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    tables |= {
        id(table)
        for module in model.modules()
        if isinstance(module, PositionalEncoding)
        for table in module.parameters()
    }
    factors = rate_factors((name for name, _ in model.named_parameters()), layer_decay=layer_decay)
    groups: dict[tuple[float, float], list[tuple[str, nn.Parameter]]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            decays = settings.decay_all or (parameter.dim() >= 2 and id(parameter) not in tables)
            groups.setdefault((settings.weight_decay if decays else 0.0, factors[name]), []).append(
                (name, parameter)
            )
    return [
        _group(members, weight_decay=decay, lr_factor=factor)
        for (decay, factor), members in sorted(groups.items())
    ]


def _group(members: list[tuple[str, nn.Parameter]], **options: Any) -> Group:
    return {"params": members, **options}


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of the next steps; a group with an `lr_factor` gets that share of it."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("lr_factor", 1.0)
