"""torch.nn.GRU, with a choice of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import nn

from seqlab.blocks.merge import MergeName
from seqlab.nn.chosen_cell import CellChoice, Family
from seqlab.nn.recurrent import Recurrent
from seqlab.nn.unknown_arguments import suggests_arguments


class GRU(Recurrent, nn.GRU):  # type: ignore[misc]  # both define forward; ours comes first
    """torch.nn.GRU: same arguments, inputs, outputs, parameters and initialization; faster if packed.

        output, h_n = GRU(input_size, hidden_size, num_layers)(input, h_0)

    cell: "reset_before", "single_gate", "min", any cell without a cell state, or {"kind": "gru",
        "keep": "new"}.
    merge: how the two directions are merged: concat, mean, sum or learned.
    hidden_sizes: the width of each layer, instead of hidden_size and num_layers. If they differ, h_0 and
        h_n are tuples with one tensor (directions, batch, width) per layer.
    fast: False always uses the reference scan, step by step.

    >>> layer = GRU(10, 20, 2, batch_first=True)
    >>> output, hidden = layer(torch.randn(3, 5, 10))
    >>> output.shape, hidden.shape
    (torch.Size([3, 5, 20]), torch.Size([2, 3, 20]))
    """

    family: ClassVar[Family] = "gru"

    @suggests_arguments
    def __init__(
        self,
        input_size: int,
        hidden_size: int | None = None,
        num_layers: int = 1,
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
            options={},
            merge=merge,
            hidden_sizes=hidden_sizes,
            fast=fast,
        )
