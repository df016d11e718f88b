"""Token counts, in memory that does not grow with the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

MOST_PIECES = 2_000_000
LONGEST_PIECE = 200


def count_pieces(texts: Iterable[Iterable[str]], *, most: int = MOST_PIECES) -> Counter[str]:
    """Counts of the tokens in all texts.

    Exact as long as there are at most `most` distinct tokens; a gigabyte of English has fewer than
    that. Beyond that, the rarest are dropped, those seen once first, so that only the counts of rare tokens
    are too low.

    >>> count_pieces([["a", "b"], ["a", "c"], ["c", "a"]])
    Counter({'a': 3, 'c': 2, 'b': 1})
    """
    counts: Counter[str] = Counter()
    for pieces in texts:
        counts.update(pieces)
        if len(counts) > most:
            counts = _without_rarest(counts, most=most // 2)  # down to half, so that this is rare
    return _storable(counts)


def _without_rarest(counts: Counter[str], *, most: int) -> Counter[str]:
    rare = 1
    while len(counts) > most:
        counts = Counter({piece: count for piece, count in counts.items() if count > rare})
        rare *= 2
    return counts


def _storable(counts: Counter[str]) -> Counter[str]:
    """Without very long tokens (a line of base64) and without halves of surrogate pairs, which UTF-8
    cannot encode.
    """
    odd = [
        piece for piece in counts if len(piece) > LONGEST_PIECE or not (piece.isascii() or _is_utf8(piece))
    ]
    for piece in odd:
        del counts[piece]
    return counts


def _is_utf8(piece: str) -> bool:
    try:
        piece.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def frequent_characters(words: Mapping[str, int], *, most: int) -> set[str]:
    """The characters that occur most often in counted words; ties are broken by code point.

    >>> sorted(frequent_characters({"aab": 2, "cb": 1}, most=2))
    ['a', 'b']
    """
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    return set(sorted(counts, key=lambda character: (-counts[character], character))[:most])
