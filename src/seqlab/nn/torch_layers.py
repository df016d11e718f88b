"""torch's own layers with the parameters of seqlab's: what torch.jit.script compiles and torch.ao.quantization
converts, since both look for torch's classes.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any, ClassVar

from torch import nn

from seqlab.core.errors import UsageError


class HasTorchLayer(nn.Module):
    """A layer that may have a counterpart in torch.nn."""

    def to_torch(self) -> nn.Module:
        """torch's own layer with the same parameters (not copies); an error if torch has no such layer."""
        raise NotImplementedError

    def __prepare_scriptable__(self) -> nn.Module:
        """What torch.jit.script compiles in place of this layer."""
        return self.to_torch()

    def no_counterpart_error(self, reason: str) -> UsageError:
        return UsageError(
            "torch.jit.script and quantize_dynamic need a torch.nn counterpart, and this layer has none:"
            f" {reason}.",
            where=type(self).__name__,
            cure="Use torch.jit.trace or torch.export instead.",
        )


class NotQuantized(HasTorchLayer):
    """A layer that quantize_dynamic would silently leave unchanged, since it looks for torch's classes."""

    torchs_is_quantized: ClassVar[bool] = True
    """Whether quantize_dynamic converts torch's layer of the same name."""

    @property
    def qconfig(self) -> Any:
        if "_qconfig" in self.__dict__:
            return self._qconfig
        raise AttributeError("qconfig")  # as of a module that has never been prepared

    @qconfig.setter
    def qconfig(self, config: Any) -> None:
        """torch.ao.quantization sets this attribute of every module, and converts only torch's classes even if a
        configuration for this class is given.
        """
        self._qconfig = config
        if self.torchs_is_quantized:
            warnings.warn(
                f"seqlab.nn.{type(self).__name__} is not quantized: torch.ao.quantization converts only"
                " torch's own classes. Convert the model first:"
                " quantize_dynamic(seqlab.nn.to_torch(model), …).",
                stacklevel=2,
            )

    @qconfig.deleter
    def qconfig(self) -> None:
        del self._qconfig


def to_torch(model: nn.Module) -> nn.Module:
    """A copy of `model` with torch's own layers in place of seqlab's. The parameters are the same tensors, not
    copies. Layers that torch does not have raise an error.

    >>> from seqlab import nn
    >>> to_torch(nn.Sequential(nn.Linear(2, 3), nn.LSTM(3, 4)))[1].__class__
    <class 'torch.nn.modules.rnn.LSTM'>
    """
    if isinstance(model, HasTorchLayer):
        return model.to_torch()
    shared: dict[int, Any] = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    converted = {id(part): part.to_torch() for part in _outermost(model)}
    return copy.deepcopy(model, {**shared, **converted})


def _outermost(model: nn.Module) -> list[HasTorchLayer]:
    """The layers of seqlab in a model, without those inside of another one."""
    layers: list[HasTorchLayer] = []
    for child in model.children():
        layers += [child] if isinstance(child, HasTorchLayer) else _outermost(child)
    return layers


def adopt(torch_layer: nn.Module, layer: nn.Module) -> nn.Module:
    """`torch_layer` with the parameters and parts of `layer`, of the same names."""
    for name in list(torch_layer._parameters):  # noqa: SLF001 - also those that are None
        setattr(torch_layer, name, getattr(layer, name))
    for name, part in layer.named_children():
        setattr(torch_layer, name, to_torch(part))
    return torch_layer.train(layer.training)
