"""Weight initialization of recurrent cells."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import nn

from seqlab.cells.base import Cell
from seqlab.core.errors import UsageError, nearest

Initialization = Literal["torch", "orthogonal", "identity", "xavier"]


@torch.no_grad()
def initialize(cell: Cell, kind: Initialization) -> None:
    """Initialize a cell's weights: first the cell's own default, then the weights that `kind` is about.

        torch        uniform in ±1/√hidden, as torch.nn's layers start
        orthogonal   each gate's block of `recurrent` a random orthogonal matrix: lengths neither grow nor fade (Saxe et al. 2014)
        identity     each block the identity, and no bias in a cell of one gate: a relu cell remembers at
            first (Le et al. 2015, arXiv:1504.00941)
        xavier       each block of `input` and `recurrent` uniform in ±√(6 / (rows + columns)) (Glorot & Bengio 2010)

    A cell whose recurrent matrix is computed from other parameters, or that has none, keeps its own
    initialization there.
    """
    if kind not in get_args(Initialization):
        raise UsageError(
            f"there is no weight initialization called '{kind}'.",
            cure=nearest(kind, get_args(Initialization)),
        )
    cell.reset_parameters()
    recurrent = [] if cell.recurrent is None else list(cell.recurrent.split(cell.hidden_size))
    if kind == "orthogonal":
        for block in recurrent:
            nn.init.orthogonal_(block)
    elif kind == "identity":
        for block in recurrent:
            nn.init.eye_(block)
        if cell.num_gates == 1 and cell.bias is not None:
            nn.init.zeros_(cell.bias)
    elif kind == "xavier":
        for block in [*recurrent, *cell.input.split(cell.hidden_size)]:
            nn.init.xavier_uniform_(block)
