"""All segmentations of words into tokens, for all words at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class Lattice:
    """A graph with a node between any two adjacent characters and an edge wherever a token fits.

    The nodes of all words are in one array; word w starts at node `first[w]` and ends at node `last[w]`. Edges
    are given as rows of (word, begin, stop, piece). They are processed in the order of their ends, so that
    all words advance by one character in the same numpy call.
    """

    def __init__(self, lengths: Places, edges: Places, *, num_pieces: int) -> None:
        self.first: Places = np.cumsum(lengths + 1) - lengths - 1
        self.last: Places = self.first + lengths
        self._num_nodes, self._num_pieces = int(lengths.sum()) + len(lengths), num_pieces
        self.word, begin, stop, self.piece = edges[np.argsort(edges[:, 2], kind="stable")].T
        self.start, self.end = self.first[self.word] + begin, self.first[self.word] + stop
        self._steps = _runs(stop)
        self._backward: Places = np.argsort(begin, kind="stable")
        self._steps_back = _runs(begin[self._backward])[::-1]

    def expected_counts(self, probs: Floats, times: Floats) -> Floats:
        """Σ_words times(word) · expected number of each piece in it, over all segmentations, weighted by probability.

        forward(node)  = Σ_edges into node  forward(start) · P(piece)
        backward(node) = Σ_edges out of node  P(piece) · backward(end)
        expected(piece) = Σ_edges  times · forward(start) · P(piece) · backward(end) / forward(last)
        """
        weight = probs[self.piece]
        forward, backward = np.zeros(self._num_nodes), np.zeros(self._num_nodes)
        forward[self.first], backward[self.last] = 1.0, 1.0
        for step in self._steps:
            np.add.at(forward, self.end[step], forward[self.start[step]] * weight[step])
        for step in self._steps_back:
            edges = self._backward[step]
            np.add.at(backward, self.start[edges], backward[self.end[edges]] * weight[edges])
        scale = times / np.maximum(forward[self.last], 1e-300)
        expected: Floats = np.zeros(self._num_pieces)
        np.add.at(expected, self.piece, scale[self.word] * forward[self.start] * weight * backward[self.end])
        return expected

    def best_log_probs(self, log_probs: Floats) -> Floats:
        """The log-probability of the most probable segmentation of each word; -inf if there is none (Viterbi)."""
        weight = log_probs[self.piece]
        best = np.full(self._num_nodes, -np.inf)
        best[self.first] = 0.0
        for step in self._steps:
            np.maximum.at(best, self.end[step], best[self.start[step]] + weight[step])
        return best[self.last]


def _runs(ordered: Places) -> list[slice]:
    """Slices of equal values in a sorted array."""
    borders = np.flatnonzero(np.diff(ordered)) + 1
    starts, stops = [0, *borders.tolist()], [*borders.tolist(), len(ordered)]
    return [slice(start, stop) for start, stop in zip(starts, stops, strict=True) if stop > start]
