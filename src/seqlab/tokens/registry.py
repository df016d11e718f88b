"""The registry of tokenizers. Recipes and lists know the names before a part is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.core.part_name import PartName
from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.tokens.base import Tokenizer

tokenizers: Registry[type[Tokenizer]] = Registry("tokenizer", package="seqlab.tokens")


class TokenizerName(PartName):
    """The name of a tokenizer in a recipe; empty: the task decides."""

    registry = tokenizers
    also = ("",)
