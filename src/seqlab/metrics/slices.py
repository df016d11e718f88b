"""Scores on slices of the data, each with its own interval, to show where a model is weak.

A mean hides differences such as long texts and rare words. Every slice is scored like the whole, so that real
differences between slices can be distinguished from chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Int, Shaped

from seqlab.metrics.bootstrap import interval_bounds
from seqlab.metrics.items import Items

QUARTILES = (0.25, 0.5, 0.75)
SEEN_EDGES = (0, 4, 49)
"""How often a word was seen in training: never, 1 to 4 times, 5 to 49 times, more."""

Values = Shaped[np.ndarray, " values"]
Groups = Int[np.ndarray, " values"]


@dataclass(frozen=True)
class SliceScore:
    """One slice of the data: its label, its size, and its score with an optional interval."""

    name: str
    count: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ScoreSlices:
    """One way to slice the data. `by` names the property, `unit` what is counted."""

    by: str
    unit: str
    score: str
    parts: list[SliceScore]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def slice_scores(
    by: str, *, score: str, unit: str, parts: Iterable[tuple[str, int, Items]]
) -> list[ScoreSlices]:
    """The score on every nonempty part; empty if there is only one part."""
    scores = []
    for name, count, items in parts:
        if count:
            scores.append(SliceScore(name, count, items.full_score(), *interval_bounds(items)))
    return [ScoreSlices(by, unit, score, scores)] if len(scores) > 1 else []


def assign_groups(values: Values, edges: Sequence[float]) -> Groups:
    """The index of the part of each value; part i extends to edge i, inclusive.

    >>> assign_groups(np.array([0, 3, 4, 5, 90]), SEEN_EDGES).tolist()
    [0, 1, 1, 2, 3]
    """
    return np.searchsorted(np.asarray(edges), values, side="left")


def quartile_edges(values: Values) -> list[float]:
    """Edges that cut values into four parts of about equal size; fewer where many values are equal.

    >>> quartile_edges(np.arange(1, 101)), quartile_edges(np.array([0, 0, 0, 0, 7]))
    ([25.0, 50.0, 75.0], [0.0])
    """
    edges = np.unique(np.quantile(values, QUARTILES, method="inverted_cdf"))
    return [float(edge) for edge in edges if edge < values.max()]


def round_edges(values: Values, *, max_parts: int = 10, min_count: int = 10) -> list[float]:
    """Edges at round numbers that cut values into at most `max_parts` parts of equal width; a last part of
    fewer than `min_count` joins the one before.

    >>> round_edges(np.arange(1, 33)), round_edges(np.array([1] * 20 + [2] * 20 + [7]))
    ([5.0, 10.0, 15.0, 20.0], [1.0])
    """
    highest = max(1.0, float(values.max()))
    powers = 10.0 ** np.arange(0, 19)
    width = next(
        float(width)
        for power in powers
        for width in (power, 2 * power, 5 * power)
        if highest / width <= max_parts
    )
    edges = [width * multiple for multiple in range(1, max_parts) if width * multiple < highest]
    while edges and (values > edges[-1]).sum() < min_count:
        edges.pop()
    return [edge for edge in edges if (values <= edge).any()]


def range_labels(
    values: Values, groups: Groups, format_value: Callable[[float], str] = "{:,.0f}".format
) -> dict[int, str]:
    """The label of each part: its smallest and its largest value.

    >>> range_labels(np.array([2, 5, 1, 9]), np.array([0, 1, 0, 1]))
    {0: '1–2', 1: '5–9'}
    """
    labels = {}
    for group in np.unique(groups).tolist():
        inside = values[groups == group]
        low, high = format_value(float(inside.min())), format_value(float(inside.max()))
        labels[group] = low if low == high else f"{low}–{high}"
    return labels


def slice_by_length(
    items: Items, lengths: Values, *, score: str, unit: str = "tokens", edges: Sequence[float] | None = None
) -> list[ScoreSlices]:
    """The score by the length of the source: in four parts of about equal size, or split at the edges (10,
    20, … 60 in the RNNsearch paper's figure).

    Paper: Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate",
    arXiv:1409.0473, figure 2.
    """
    groups = assign_groups(lengths, quartile_edges(lengths) if edges is None else edges)
    return slice_scores(
        f"{unit} in the source",
        score=score,
        unit="rows",
        parts=parts_of_items(items, groups, range_labels(lengths, groups)),
    )


def parts_of_items(items: Items, groups: Groups, names: dict[int, str]) -> Iterable[tuple[str, int, Items]]:
    """Parts that consist of whole items, such as texts of one length."""
    for group, name in names.items():
        indices = np.flatnonzero(groups == group)
        yield name, len(indices), items.subset(indices)


def parts_within_items(
    make_items: Callable[[Shaped[np.ndarray, " values"]], Items], groups: Groups, names: dict[int, str]
) -> Iterable[tuple[str, int, Items]]:
    """Parts that cut across items, such as the rare words of every sentence; `make_items` builds the items
    for a selection of values.
    """
    for group, name in names.items():
        inside = groups == group
        if inside.any():
            yield name, int(inside.sum()), make_items(inside)
