"""Parameters that training leaves as they are."""

from __future__ import annotations

from torch import nn

from seqlab.core.errors import RecipeError
from seqlab.training.layer_depth import count_layers, depth_of
from seqlab.training.settings import StartSettings


def freeze(model: nn.Module, settings: StartSettings) -> None:
    """Take the gradient from what the settings name: such parameters are not updated, do not decay, and the
    optimizer knows nothing of them.
    """
    names = [name for name, _ in model.named_parameters()]
    num_layers = count_layers(names)
    if settings.freeze_layers > num_layers:
        raise RecipeError(
            f"{settings.freeze_layers} layers cannot stay as they were: the network has {num_layers}.",
            where="start.freeze_layers",
            cure="All of them and the embedding: start.freeze=backbone",
        )
    highest = (
        settings.freeze_layers if settings.freeze_layers else 0 if settings.freeze == "embedding" else -1
    )
    for name, parameter in model.named_parameters():
        is_frozen_backbone = settings.freeze == "backbone" and name.startswith(("embed.", "backbone."))
        if is_frozen_backbone or depth_of(name, num_layers=num_layers) <= highest:
            parameter.requires_grad_(False)


def count_parameters(model: nn.Module, *, trained: bool = False) -> int:
    """All numbers that a model has learned, or only those that training still changes."""
    return sum(
        parameter.numel() for parameter in model.parameters() if parameter.requires_grad or not trained
    )
