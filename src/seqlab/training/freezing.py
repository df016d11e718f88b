"""Freeze parameters, so that training does not change them."""

from __future__ import annotations

from torch import nn

from seqlab.core.errors import RecipeError
from seqlab.training.layer_depth import count_layers, depth_of
from seqlab.training.settings import StartSettings


def freeze(model: nn.Module, settings: StartSettings) -> None:
    """Turn off gradients for the parameters that the settings name: they are neither updated nor decayed,
    and are left out of the optimizer.
    """
    names = [name for name, _ in model.named_parameters()]
    num_layers = count_layers(names)
    if settings.freeze_layers > num_layers:
        raise RecipeError(
            f"cannot freeze {settings.freeze_layers} layers: the network has {num_layers}.",
            where="start.freeze_layers",
            cure="To freeze all layers and the embedding: start.freeze=backbone",
        )
    highest = (
        settings.freeze_layers if settings.freeze_layers else 0 if settings.freeze == "embedding" else -1
    )
    for name, parameter in model.named_parameters():
        is_frozen_backbone = settings.freeze == "backbone" and name.startswith(("embed.", "backbone."))
        if is_frozen_backbone or depth_of(name, num_layers=num_layers) <= highest:
            parameter.requires_grad_(False)


def count_parameters(model: nn.Module, *, trained: bool = False) -> int:
    """Count the parameters of a model, or only those that training updates."""
    return sum(
        parameter.numel() for parameter in model.parameters() if parameter.requires_grad or not trained
    )
