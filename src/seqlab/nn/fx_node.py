"""One node for a layer in the graphs of torch.fx, as for torch's own layers."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.fx import Proxy, Tracer


def as_fx_node(layer: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """The call as one node of the graph that torch.fx.symbolic_trace records; None if nothing is recorded, or
    if the layer itself is what is traced.

    torch.fx does not look into classes of torch.nn; this is the same for classes that derive from them.
    """
    if not isinstance(args[0], Proxy):
        return None
    tracer = args[0].tracer
    if not isinstance(tracer, Tracer) or tracer.root is layer:
        return None
    return tracer.create_proxy("call_module", tracer.path_of_module(layer), args, kwargs)
