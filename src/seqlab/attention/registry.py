"""The registry of attention scores. It does not import torch: recipes and lists need only the names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.core.part_name import PartName
from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.attention.base import ScoreFunction

score_functions: Registry[type[ScoreFunction]] = Registry("score", package="seqlab.attention")


class ScoreName(PartName):
    """The name of an attention score in a recipe."""

    registry = score_functions
