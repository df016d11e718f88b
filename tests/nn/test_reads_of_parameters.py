"""A parametrization runs whenever a parameter is read. The layers read no parameter more often than torch's do:
spectral norm, for one, improves its estimate at each read.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils import parametrize
from torch.nn.utils.rnn import pack_sequence

from seqlab import nn

IN, HIDDEN = 4, 6
LAYERS: dict[str, tuple[str, dict[str, Any]]] = {
    "rnn": ("RNN", {}),
    "lstm": ("LSTM", {}),
    "projected": ("LSTM", {"proj_size": 3}),
    "gru": ("GRU", {}),
}

pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")


class CountedReads(torch.nn.Module):
    """The parameter itself, as a new tensor at every read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def forward(self, parameter: Tensor) -> Tensor:
        self.reads += 1
        return parameter.clone()


def reads(layer: torch.nn.Module, *inputs: Any) -> dict[str, int]:
    """How often one call reads each parameter."""
    counters = {}
    for path, part in list(layer.named_modules()):
        for name, _ in list(part.named_parameters(recurse=False)):
            counters[f"{path}.{name}"] = counter = CountedReads()
            parametrize.register_parametrization(part, name, counter)
    for counter in counters.values():
        counter.reads = 0
    layer(*inputs)
    return {name: counter.reads for name, counter in counters.items()}


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("shape", ["batch", "long batch", "packed"])
def test_a_recurrent_layer_reads_its_parameters_as_often_as_torchs(kind: str, shape: str) -> None:
    inputs = {
        "batch": torch.randn(5, 3, IN),
        "long batch": torch.randn(50, 40, IN),  # where the kernels run
        "packed": pack_sequence([torch.randn(4, IN), torch.randn(2, IN)]),
    }[shape]
    name, options = LAYERS[kind]
    ours, theirs = (getattr(module, name)(IN, HIDDEN, 2, **options) for module in (nn, torch.nn))
    assert reads(ours, inputs) == reads(theirs, inputs)


@pytest.mark.parametrize(
    ("options", "inputs"),
    [
        ({}, "self"),
        ({}, "memory"),
        ({}, "all different"),
        ({"add_bias_kv": True}, "self"),
        ({"bias": False, "kdim": 4, "vdim": 6}, "all different"),
    ],
)
def test_attention_reads_every_parameter_once(options: dict[str, Any], inputs: str) -> None:
    attention = nn.MultiheadAttention(8, 2, **options)
    query, key, value = (torch.randn(5, 3, size) for size in (8, attention.kdim, attention.vdim))
    chosen = {
        "self": (query, query, query),
        "memory": (query, key, key),
        "all different": (query, key, value),
    }[inputs]
    assert set(reads(attention, *chosen).values()) == {1}
