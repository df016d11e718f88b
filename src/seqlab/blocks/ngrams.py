"""N-grams of tokens, and a table of the n-grams seen in the training split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from jaxtyping import Bool, Int, Int64
from torch import Tensor, nn

NOTHING, BEGIN, END, FIRST = 0, 1, 2, 3
"""The symbols of an n-gram: padding, the boundary before a sequence, the one after it, and the tokens from
3 on.
"""
MIX, SPREAD, FOLD = 0x2545F4914F6CDD1D, 0x1CE4E5B9BF58476D, 29
"""Odd numbers and a shift that scatter keys over 64 bits. If the keys were random, the probability that any two of
10⁶ n-grams share one would be about 3 in 10⁸.
"""
NO_KEY = torch.iinfo(torch.int64).max
"""Marks missing n-grams and unused table entries."""
MAX_PENDING_KEYS = 1 << 22
"""Keys to buffer before they are counted together."""
MAX_OVERFLOW = 16
"""Counting keeps at most this many times the size of the table; beyond that, n-grams seen in only one sequence so
far are dropped.
"""

Sequences = tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"]]


def ngram_keys(
    tokens: Int[Tensor, "batch time"], is_token: Bool[Tensor, "batch time"], *, max_n: int
) -> Int64[Tensor, "batch grams"]:
    """A hash key for every n-gram of 1 to `max_n` tokens; n-grams of two or more tokens may begin or end with
    the sequence boundary.

        key(a b c) = mix(mix(mix(0, a), b), c),     mix(key, next) = fold((key · MIX + next) · SPREAD)

    The products wrap around at 64 bits. `NO_KEY` marks positions where no n-gram begins.
    """
    steps = torch.full(
        (len(tokens), tokens.shape[1] + max_n + 1), NOTHING, dtype=torch.int64, device=tokens.device
    )
    steps[:, 0] = BEGIN
    steps[:, 1 : tokens.shape[1] + 1] = torch.where(is_token, tokens + FIRST, NOTHING)
    steps.scatter_(1, is_token.sum(dim=1, keepdim=True) + 1, END)  # right after the last token
    width = tokens.shape[1] + 2
    keys, keys_by_length = torch.zeros_like(steps[:, :width]), []
    for offset in range(max_n):
        ends = steps[:, offset : offset + width]
        keys = (keys * MIX + ends) * SPREAD
        keys = keys ^ (keys >> FOLD)
        exists = ends != NOTHING if offset else ends >= FIRST  # a boundary alone carries no information
        keys_by_length.append(keys.masked_fill(~exists, NO_KEY))
    return torch.cat(keys_by_length, dim=1)


def distinct_ngrams(
    tokens: Int[Tensor, "batch time"], is_token: Bool[Tensor, "batch time"], *, max_n: int
) -> tuple[Int64[Tensor, " found"], Int64[Tensor, " found"]]:
    """The distinct n-grams of every sequence: row index and key.

    Sorted by row, then by key.
    """
    keys = ngram_keys(tokens, is_token, max_n=max_n).sort(dim=1).values  # (batch, grams)
    is_new = keys != NO_KEY
    is_new[:, 1:] &= keys[:, 1:] != keys[:, :-1]
    rows = torch.arange(len(tokens), device=tokens.device).repeat_interleave(is_new.sum(dim=1))
    return rows, keys[is_new]


class NGramTable(nn.Module):
    """A table of the n-grams that occur in the most training sequences, each with its own index; all other
    n-grams are dropped.

    Keys are sorted and looked up by binary search. The table is counted once and not trained.
    """

    keys: Int64[Tensor, " places"]

    def __init__(self, max_features: int, *, max_n: int, min_df: int) -> None:
        """min_df: minimum number of sequences in which an n-gram must occur."""
        super().__init__()
        self.max_n = max_n
        self.min_df = min_df
        self.register_buffer("keys", torch.full((max_features,), NO_KEY))

    def forward(
        self, tokens: Int[Tensor, "batch time"], is_token: Bool[Tensor, "batch time"]
    ) -> tuple[Int64[Tensor, " found"], Int64[Tensor, " found"]]:
        """The distinct known n-grams of every sequence: row index and table index."""
        rows, keys = distinct_ngrams(tokens, is_token, max_n=self.max_n)
        slots = torch.searchsorted(self.keys, keys).clamp_(max=len(self.keys) - 1)
        is_known = self.keys[slots] == keys
        return rows[is_known], slots[is_known]

    def fit(self, batches: Iterable[Sequences]) -> None:
        """Fill the table with the n-grams that occur in the most sequences; ties go to the smaller keys."""
        keys, counts = count_keys(self._keys_of(batches), max_keys=MAX_OVERFLOW * len(self.keys))
        keys, counts = keys[counts >= self.min_df], counts[counts >= self.min_df]
        chosen = counts.argsort(descending=True, stable=True)[: len(self.keys)]
        self.keys.fill_(NO_KEY)
        self.keys[: len(chosen)] = keys[chosen].sort().values

    def _keys_of(self, batches: Iterable[Sequences]) -> Iterator[Int64[Tensor, " found"]]:
        for tokens, is_token in batches:
            yield distinct_ngrams(tokens, is_token, max_n=self.max_n)[1]


def count_keys(
    parts: Iterable[Int64[Tensor, " found"]], *, max_keys: int
) -> tuple[Int64[Tensor, " distinct"], Int64[Tensor, " distinct"]]:
    """The count of each key, sorted by key. If there are more than `max_keys` distinct keys, those seen only
    once so far are dropped on the way.

    Paper: Manku & Motwani 2002, "Approximate Frequency Counts over Data Streams", VLDB: counts are too low by
    at most the number of times keys were dropped.

    >>> count_keys([torch.tensor([7, 5]), torch.tensor([7])], max_keys=10)
    (tensor([5, 7]), tensor([1, 2]))
    """
    keys = counts = torch.empty(0, dtype=torch.int64)
    waiting: list[Tensor] = []
    for part in parts:
        waiting.append(part.cpu())
        if sum(map(len, waiting)) >= MAX_PENDING_KEYS:
            keys, counts = _added(keys, counts, torch.cat(waiting))
            waiting = []
            if len(keys) > max_keys:
                keys, counts = keys[counts > 1], counts[counts > 1]
    return _added(keys, counts, torch.cat([keys[:0], *waiting]))


def _added(keys: Tensor, counts: Tensor, more: Tensor) -> tuple[Tensor, Tensor]:
    new_keys, times = torch.unique(more, return_counts=True)
    together, places = torch.unique(torch.cat([keys, new_keys]), return_inverse=True)
    return together, torch.zeros_like(together).index_add_(0, places, torch.cat([counts, times]))
