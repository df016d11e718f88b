"""torch.nn.LSTM, with a choice of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import nn

from seqlab.blocks.merge import MergeName
from seqlab.nn.chosen_cell import CellChoice, Family
from seqlab.nn.recurrent import Recurrent
from seqlab.nn.unknown_arguments import suggests_arguments


class LSTM(Recurrent, nn.LSTM):  # type: ignore[misc]  # both define forward; ours comes first
    """torch.nn.LSTM: same arguments, inputs, outputs, parameters and initialization; faster if packed.

        output, (h_n, c_n) = LSTM(input_size, hidden_size, num_layers)(input, (h_0, c_0))

    cell: "peephole", "coupled", "layer_norm", any cell with a cell state, or {"kind": "peephole",
        "peepholes": "full"}.
    merge: how the two directions are merged: concat, mean, sum or learned.
    hidden_sizes: the width of each layer, instead of hidden_size and num_layers. If they differ, h_0, c_0,
        h_n and c_n are tuples with one tensor (directions, batch, width) per layer.
    fast: False always uses the reference scan, step by step.

    >>> layer = LSTM(10, 20, 2)
    >>> output, (hidden, cell_state) = layer(torch.randn(5, 3, 10))
    >>> output.shape, hidden.shape, cell_state.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]), torch.Size([2, 3, 20]))
    """

    family: ClassVar[Family] = "lstm"

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
        proj_size: int = 0,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
        *,
        cell: CellChoice | None = None,
        merge: MergeName = "concat",
        hidden_sizes: Sequence[int] | None = None,
        fast: bool = True,
    ) -> None:
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
            proj_size=proj_size,
            device=device,
            dtype=dtype,
            cell="projected_lstm" if proj_size > 0 and cell in (None, "lstm") else cell,
            options={"proj_size": proj_size} if proj_size > 0 else {},
            merge=merge,
            hidden_sizes=hidden_sizes,
            fast=fast,
        )
