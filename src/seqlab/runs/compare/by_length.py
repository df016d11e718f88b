"""Compare runs by the length of the source: how well each does on short and long inputs.

Paper: Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate",
arXiv:1409.0473, figure 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from seqlab.metrics.items import Items
from seqlab.metrics.slices import (
    SliceScore,
    assign_groups,
    parts_of_items,
    range_labels,
    round_edges,
    slice_scores,
)


@dataclass(frozen=True)
class ByLength:
    """One score of every competitor on parts of the data, binned by source length; the bins are the same
    for all.
    """

    score: str
    unit: str
    middles: list[float]
    """The mean length of each part."""
    parts: dict[str, list[SliceScore]]
    """The scores of each competitor."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def quality_by_length(
    score: str, items: Mapping[str, Items], lengths: Float[np.ndarray, " items"], *, unit: str
) -> ByLength | None:
    """Score every competitor in bins of source length.

    items: the per-example terms of each competitor's score, in the order of the lengths. Returns None if
    all sources have about the same length.
    """
    groups = assign_groups(lengths, round_edges(lengths))
    names = range_labels(lengths, groups)
    if len(names) < 2:
        return None
    qualities = {
        name: slice_scores(unit, score=score, unit="rows", parts=parts_of_items(scored, groups, names))[
            0
        ].parts
        for name, scored in items.items()
    }
    return ByLength(score, unit, [float(lengths[groups == group].mean()) for group in names], qualities)
