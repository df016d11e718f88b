"""The columns of the compatibility table: how each layer is built from torch.nn or seqlab.nn, and its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Build = Callable[[Any], torch.nn.Module]
IN, HIDDEN, WIDTH = 4, 6, 8
TRANSFORMER = {"batch_first": True, "dropout": 0.0, "dtype": torch.float64}

RECURRENT: dict[str, Build] = {
    "RNN": lambda nn: nn.RNN(IN, HIDDEN, 2, bidirectional=True, dtype=torch.float64),
    "RNN with relu": lambda nn: nn.RNN(IN, HIDDEN, nonlinearity="relu", dtype=torch.float64),
    "LSTM": lambda nn: nn.LSTM(IN, HIDDEN, 2, bidirectional=True, dtype=torch.float64),
    "LSTM with proj_size": lambda nn: nn.LSTM(IN, HIDDEN, proj_size=3, dtype=torch.float64),
    "GRU": lambda nn: nn.GRU(IN, HIDDEN, 2, dtype=torch.float64),
}
CELLS: dict[str, Build] = {
    "RNNCell": lambda nn: nn.RNNCell(IN, HIDDEN, dtype=torch.float64),
    "LSTMCell": lambda nn: nn.LSTMCell(IN, HIDDEN, dtype=torch.float64),
    "GRUCell": lambda nn: nn.GRUCell(IN, HIDDEN, dtype=torch.float64),
}
ATTENTION: dict[str, Build] = {
    "MultiheadAttention": lambda nn: nn.MultiheadAttention(WIDTH, 2, batch_first=True, dtype=torch.float64)
}
ENCODERS: dict[str, Build] = {
    "TransformerEncoderLayer": lambda nn: nn.TransformerEncoderLayer(WIDTH, 2, 16, **TRANSFORMER),
    "TransformerEncoder": lambda nn: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(WIDTH, 2, 16, **TRANSFORMER), 2, enable_nested_tensor=False
    ),
}
DECODERS: dict[str, Build] = {
    "TransformerDecoderLayer": lambda nn: nn.TransformerDecoderLayer(WIDTH, 2, 16, **TRANSFORMER),
    "TransformerDecoder": lambda nn: nn.TransformerDecoder(
        nn.TransformerDecoderLayer(WIDTH, 2, 16, **TRANSFORMER), 2
    ),
    "Transformer": lambda nn: nn.Transformer(WIDTH, 2, 1, 1, 16, **TRANSFORMER),
}
COLUMNS: dict[str, dict[str, Build]] = {
    "RNN, LSTM, GRU": RECURRENT,
    "RNNCell, LSTMCell, GRUCell": CELLS,
    "MultiheadAttention": ATTENTION,
    "TransformerEncoderLayer, TransformerEncoder": ENCODERS,
    "TransformerDecoderLayer, TransformerDecoder, Transformer": DECODERS,
}


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def inputs_of(name: str, batch: int = 3, time: int = 5, seed: int = 1) -> tuple[Tensor, ...]:
    if name in RECURRENT:
        return (draw(time, batch, IN, seed=seed),)
    if name in CELLS:
        return (draw(batch, IN, seed=seed),)
    if name in ENCODERS:
        return (draw(batch, time, WIDTH, seed=seed),)
    source = draw(batch, time, WIDTH, seed=seed + 1)
    return (draw(batch, time, WIDTH, seed=seed), *[source] * (2 if name in ATTENTION else 1))


def batch_axis(name: str) -> int:
    return 1 if name in RECURRENT else 0
