"""Interpolated modified Kneser-Ney written out with dictionaries, one probability at a time: the truth for
the fast model.
"""

from __future__ import annotations

from collections import Counter, defaultdict


class SlowKneserNey:
    """The recursion of Chen & Goodman as it stands on paper."""

    def __init__(self, tokens: list[int], vocabulary_size: int, *, order: int) -> None:
        self.vocabulary_size = vocabulary_size
        self.order = order
        self.counts: dict[int, dict[tuple[int, ...], int]] = {}
        for length in range(1, order + 1):
            if length == order:
                self.counts[length] = dict(
                    Counter(tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1))
                )
            else:
                before = defaultdict(set)
                for i in range(1, len(tokens) - length + 1):
                    before[tuple(tokens[i : i + length])].add(tokens[i - 1])
                self.counts[length] = {gram: len(tokens_before) for gram, tokens_before in before.items()}

    def discount(self, length: int, count: int) -> float:
        if count == 0:
            return 0.0
        times = Counter(self.counts[length].values())
        size = min(count, 3)
        if times[1] == 0 or times[2] == 0 or sum(n for c, n in times.items() if c == size) == 0:
            return 0.5
        ratio = times[1] / (times[1] + 2 * times[2])
        above = times[size + 1] if size + 1 < 5 else sum(n for c, n in times.items() if c >= 5)
        return min(max(size - (size + 1) * ratio * above / times[size], 0.05), size - 0.05)

    def prob(self, token: int, context: tuple[int, ...]) -> float:
        if len(context) > self.order - 1:
            context = context[len(context) - self.order + 1 :]
        shorter = self.prob(token, context[1:]) if context else 1 / self.vocabulary_size
        length = len(context) + 1
        followers = [count for gram, count in self.counts[length].items() if gram[:-1] == context]
        if not followers:
            return shorter
        count = self.counts[length].get((*context, token), 0)
        taken = sum(self.discount(length, c) for c in followers)
        return (count - self.discount(length, count)) / sum(followers) + taken / sum(followers) * shorter
