"""Support for torch.jit.script, which cannot compile seqlab's layers and gets torch's own layer with the
same parameters instead.
"""

from __future__ import annotations

from typing import Any

from torch import nn

from seqlab.core.errors import UsageError
from seqlab.nn.chosen_cell import ChosenCell


def scriptable(
    module: nn.Module, chosen: ChosenCell, *, name: str, matches_torch: bool, arguments: dict[str, Any]
) -> nn.Module:
    """The torch.nn module of this name, sharing the parameters of `module`; an error if torch does not
    have this cell.
    """
    if not matches_torch:
        raise UsageError(
            f"torch.jit.script supports seqlab.nn.{name} only with torch's own cell, without merge= and"
            f" hidden_sizes=; the cell here is {chosen}.",
            cure="Use torch.jit.trace or torch.export instead.",
        )
    torch_module: nn.Module = getattr(nn, name)(**arguments, device="meta")
    for key in list(torch_module._parameters):  # noqa: SLF001 - also those that are None
        setattr(torch_module, key, getattr(module, key))
    return torch_module.train(module.training)
