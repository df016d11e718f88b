"""torch.nn.RNN, with a choice of cells and nonlinearities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import nn

from seqlab.blocks.merge import MergeName
from seqlab.nn.chosen_cell import CellChoice, Family, Nonlinearity
from seqlab.nn.recurrent import Recurrent
from seqlab.nn.unknown_arguments import suggests_arguments


class RNN(Recurrent, nn.RNN):  # type: ignore[misc]  # both define forward; ours comes first
    """torch.nn.RNN: same arguments, inputs, outputs, parameters and initialization; faster if packed.

        output, h_n = RNN(input_size, hidden_size, num_layers)(input, h_0)

    nonlinearity: tanh (default), relu, sigmoid, identity, or any function of a tensor.
    cell: "orthogonal", any cell without a cell state, or {"kind": "orthogonal", "activation":
        "tanh"}.
    merge: how the two directions are merged: concat, mean, sum or learned.
    hidden_sizes: the width of each layer, instead of hidden_size and num_layers. If they differ, h_0 and
        h_n are tuples with one tensor (directions, batch, width) per layer.
    fast: False always uses the reference scan, step by step.
    """

    family: ClassVar[Family] = "rnn"
    torchs_is_quantized: ClassVar[bool] = False

    @suggests_arguments
    def __init__(
        self,
        input_size: int,
        hidden_size: int | None = None,
        num_layers: int = 1,
        nonlinearity: Nonlinearity | None = None,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
        *,
        proj_size: None = None,
        cell: CellChoice | None = None,
        merge: MergeName = "concat",
        hidden_sizes: Sequence[int] | None = None,
        fast: bool = True,
    ) -> None:
        if proj_size is not None:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            torch_kwargs={
                "bias": bias,
                "batch_first": batch_first,
                "dropout": dropout,
                "bidirectional": bidirectional,
            },
            device=device,
            dtype=dtype,
            cell=cell,
            options={} if nonlinearity is None else {"activation": nonlinearity},
            merge=merge,
            hidden_sizes=hidden_sizes,
            fast=fast,
        )
        self.nonlinearity = getattr(self._cells[0][0].template, "activation", "tanh")
        self.mode = "RNN_RELU" if self.nonlinearity == "relu" else "RNN_TANH"
