"""Where a model is good and where it is not: its score on parts of the data, each with its own interval.

A mean hides much: long texts, rare words. Every part is scored like the whole, so that a difference between two parts can be told from
the chance of few items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Int, Shaped

from seqlab.metrics.bootstrap import ends_of
from seqlab.metrics.items import Items

QUARTERS = (0.25, 0.5, 0.75)
SEEN = (0, 4, 49)
"""How often a word was seen in training: never, 1 to 4 times, 5 to 49 times, more."""

Values = Shaped[np.ndarray, " values"]
Groups = Int[np.ndarray, " values"]


@dataclass(frozen=True)
class Part:
    """One part of the data: what is in it, how much, and the score there, with the ends of its interval where there is one."""

    name: str
    count: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Slices:
    """One way to cut the data. `by` says along what, `unit` what is counted."""

    by: str
    unit: str
    score: str
    parts: list[Part]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def slices(by: str, *, score: str, unit: str, parts: Iterable[tuple[str, int, Items]]) -> list[Slices]:
    """The score on every part that has items; nothing where there is only one, which says no more than the whole."""
    found = []
    for name, count, items in parts:
        if count:
            found.append(Part(name, count, items.whole(), *ends_of(items)))
    return [Slices(by, unit, score, found)] if len(found) > 1 else []


def cut(values: Values, edges: Sequence[float]) -> Groups:
    """The number of the part in which each value falls; part i reaches up to edge i, that edge included.

    >>> cut(np.array([0, 3, 4, 5, 90]), SEEN).tolist()
    [0, 1, 1, 2, 3]
    """
    return np.searchsorted(np.asarray(edges), values, side="left")


def quarters(values: Values) -> list[float]:
    """Edges that cut values into four parts of about equal size; fewer where many values are equal.

    >>> quarters(np.arange(1, 101)), quarters(np.array([0, 0, 0, 0, 7]))
    ([25.0, 50.0, 75.0], [0.0])
    """
    edges = np.unique(np.quantile(values, QUARTERS, method="inverted_cdf"))
    return [float(edge) for edge in edges if edge < values.max()]


def round_edges(values: Values, *, most: int = 10, least: int = 10) -> list[float]:
    """Edges at round numbers that cut values into at most `most` parts of equal width; a last part of fewer than `least` joins the one before.

    >>> round_edges(np.arange(1, 33)), round_edges(np.array([1] * 20 + [2] * 20 + [7]))
    ([5.0, 10.0, 15.0, 20.0], [1.0])
    """
    highest = max(1.0, float(values.max()))
    powers = 10.0 ** np.arange(0, 19)
    width = next(float(width) for power in powers for width in (power, 2 * power, 5 * power) if highest / width <= most)
    edges = [width * number for number in range(1, most) if width * number < highest]
    while edges and (values > edges[-1]).sum() < least:
        edges.pop()
    return [edge for edge in edges if (values <= edge).any()]


def ranges(values: Values, groups: Groups, shown: Callable[[float], str] = "{:,.0f}".format) -> dict[int, str]:
    """What each part holds, in words: its smallest and its largest value.

    >>> ranges(np.array([2, 5, 1, 9]), np.array([0, 1, 0, 1]))
    {0: '1–2', 1: '5–9'}
    """
    found = {}
    for group in np.unique(groups).tolist():
        inside = values[groups == group]
        low, high = shown(float(inside.min())), shown(float(inside.max()))
        found[group] = low if low == high else f"{low}–{high}"
    return found


def by_length(items: Items, lengths: Values, *, score: str, unit: str = "tokens", edges: Sequence[float] | None = None) -> list[Slices]:
    """The score by the length of the source: in four parts of about equal size, or cut at the edges (RNNsearch's picture has 10, 20, … 60).

    Paper: Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate", arXiv:1409.0473, figure 2.
    """
    groups = cut(lengths, quarters(lengths) if edges is None else edges)
    return slices(f"{unit} in the source", score=score, unit="rows", parts=by_item(items, groups, ranges(lengths, groups)))


def by_item(items: Items, groups: Groups, names: dict[int, str]) -> Iterable[tuple[str, int, Items]]:
    """Parts that are whole items, such as texts of one length."""
    for group, name in names.items():
        chosen = np.flatnonzero(groups == group)
        yield name, len(chosen), items.part(chosen)


def within_items(make: Callable[[Shaped[np.ndarray, " values"]], Items], groups: Groups, names: dict[int, str]) -> Iterable[tuple[str, int, Items]]:
    """Parts that run through the items, such as the rare words of every sentence; `make` gives the items for a choice of values."""
    for group, name in names.items():
        inside = groups == group
        if inside.any():
            yield name, int(inside.sum()), make(inside)
