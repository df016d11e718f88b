"""A warning about inputs of which a model knows no token: its answer says nothing about them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from seqlab.core.errors import SeqlabWarning
from seqlab.tasks.excerpt import excerpt


def warn_of_unknown(inputs: Sequence[tuple[str, int]], *, total: int) -> None:
    """One warning for all inputs of a call. inputs: the texts without a known token, and their numbers of tokens."""
    if not inputs:
        return
    text, size = inputs[0]
    tokens = f"all {size:,} tokens are" if size > 1 else "its only token is"
    what = f"{tokens} unknown to the model" if text.strip() else "the text is empty"
    others = f"; the same applies to {len(inputs):,} of the {total:,} inputs" if len(inputs) > 1 else ""
    warnings.warn(
        f"{excerpt(text)!r}: {what}, so the answer does not depend on it{others}",
        SeqlabWarning,
        stacklevel=4,
    )
