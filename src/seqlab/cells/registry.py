"""The registry of cells. No torch here: recipes and lists know the names before a cell is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.cells.base import Cell

cells: Registry[type[Cell]] = Registry("cell", package="seqlab.cells")
