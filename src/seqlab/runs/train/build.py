"""Build the network of a run: the network of the task, with the adapters and frozen parts of the recipe."""

from __future__ import annotations

from torch import nn

from seqlab.blocks.lora import add_lora
from seqlab.recipes.setting_names import naming_settings
from seqlab.tasks.codec import Codec
from seqlab.tasks.spec import find_spec
from seqlab.training.freezing import freeze
from seqlab.training.settings import StartSettings

LORA_NAMES = {
    "qkv": ("qkv", "query", "key", "value"),
    "output": ("output",),
    "feed_forward": ("expand", "contract"),
}
"""The names of the layers for each LoRA target of a recipe."""


def build_model(codec: Codec) -> nn.Module:
    """Build a network that matches the weights of the run."""
    return adapt(build_bare_model(codec), codec.recipe.start)


def build_bare_model(codec: Codec) -> nn.Module:
    """Build the network of the task, without adapters and freezing; errors name the settings that do not
    fit.
    """
    with naming_settings(codec.recipe):
        return find_spec(codec.recipe.task).load_parts().build_model(codec)


def adapt(model: nn.Module, start: StartSettings) -> nn.Module:
    """Add adapters and freeze parameters in place; returns the model."""
    if start.lora_rank:
        freeze(model, start.model_copy(update={"freeze": "backbone", "freeze_layers": 0}))
        backbone = model.get_submodule("backbone")
        add_lora(
            backbone,
            rank=start.lora_rank,
            alpha=start.lora_alpha,
            target_modules=[name for target in start.lora_targets for name in LORA_NAMES[target]],
        )
    else:
        freeze(model, start)
    return model
