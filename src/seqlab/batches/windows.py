"""The sequences of a store, split where they are longer than a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, Integer


@dataclass(frozen=True)
class Spans:
    """Start and end of each piece in the concatenated steps of all sequences."""

    starts: Int[np.ndarray, " spans"]
    ends: Int[np.ndarray, " spans"]

    @classmethod
    def cut(cls, offsets: Int[np.ndarray, " edges"], *, window: int) -> Spans:
        """Every sequence in pieces of `window` steps, the last one shorter.

        >>> spans = Spans.cut(np.array([0, 5, 5, 7]), window=3)
        >>> list(zip(spans.starts.tolist(), spans.ends.tolist()))
        [(0, 3), (3, 5), (5, 7)]
        """
        counts = -(-np.diff(offsets) // window)  # pieces of each sequence
        first = np.repeat(
            np.cumsum(counts) - counts, counts
        )  # the number of the first piece of the same sequence
        starts = np.repeat(offsets[:-1], counts) + window * (np.arange(len(first)) - first)
        return cls(starts, np.minimum(starts + window, np.repeat(offsets[1:], counts)))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> Int[np.ndarray, " spans"]:
        return self.ends - self.starts

    def where(self, keep: Bool[np.ndarray, " spans"]) -> Spans:
        return Spans(self.starts[keep], self.ends[keep])

    def with_any(self, values: Integer[np.ndarray, " steps"], is_wanted: Bool[np.ndarray, " vocab"]) -> Spans:
        """The spans that contain at least one of the given ids.

        The spans must follow one another without gaps, as `cut` makes them.
        """
        return self.where(np.logical_or.reduceat(is_wanted[values], self.starts)) if len(self) else self

    def beginning(self, *, at_most: int) -> Spans:
        """The first spans, up to a total number of steps; at least one span."""
        return self.where(np.cumsum(self.lengths) <= max(at_most, int(self.lengths[:1].sum())))
