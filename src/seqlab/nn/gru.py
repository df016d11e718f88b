"""torch.nn.GRU, with a choice of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import nn

from seqlab.blocks.merge import MergeName
from seqlab.nn.chosen_cell import CellChoice, Family
from seqlab.nn.recurrent import Recurrent


class GRU(Recurrent, nn.GRU):  # type: ignore[misc]  # both say forward; ours comes first
    """torch.nn.GRU: same arguments, inputs, outputs, parameters and start; packed sequences take less time.

        output, h_n = GRU(input_size, hidden_size, num_layers)(input, h_0)

    cell: the equations: "reset_before", "single_gate", "min", any cell without a memory, or {"kind": "gru",
        "keep": "new"}.
    merge: how the two directions become one: concat, mean, sum or learned.
    hidden_sizes: a width for each layer, in place of hidden_size and num_layers. Where they differ, h_0 and
        h_n are tuples with one
        tensor (directions, batch, width) per layer.
    fast: False takes the plain path, which can be differentiated any number of times.

    >>> layer = GRU(10, 20, 2, batch_first=True)
    >>> output, hidden = layer(torch.randn(3, 5, 10))
    >>> output.shape, hidden.shape
    (torch.Size([3, 5, 20]), torch.Size([2, 3, 20]))
    """

    family: ClassVar[Family] = "gru"

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
