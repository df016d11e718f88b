"""The registry of positional encodings. It does not import torch: recipes and lists need only the names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.core.part_name import PartName
from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.positions.base import PositionalEncoding

positional_encodings: Registry[type[PositionalEncoding]] = Registry("positions", package="seqlab.positions")


class PositionsName(PartName):
    """The name of a positional encoding in a recipe."""

    registry = positional_encodings
