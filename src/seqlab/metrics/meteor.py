"""METEOR: words that an output shares with its reference, also by their stems, and how well their order agrees.

    match         each word of the output with at most one of the reference: equal words first, then words with the same stem.
                  As many matches as possible, and of those choices the one whose lines cross least
    precision P   = matches / words of the output,      recall R = matches / words of the reference
    F_mean        = P R / (α P + (1 - α) R)             α = 0.9: 10 P R / (R + 9 P)
    penalty       = γ (chunks / matches)^β              γ = 0.5, β = 3; a chunk is a run of matches that stand side by side in both
    METEOR        = F_mean (1 - penalty)                0 … 1

Matches, chunks and words are added up over the corpus before anything is divided. With several references the one that fits a sentence best
counts for it. The third stage of the paper, synonyms of WordNet, is left out: it needs a dictionary of English.

Paper: Banerjee & Lavie 2005, "METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with Human Judgments", ACL workshop
on evaluation measures, section 2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from seqlab.metrics.bleu import check_pairs
from seqlab.metrics.draft_score import Rated
from seqlab.metrics.items import Statistics, Sums
from seqlab.metrics.porter import porter_stem

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
BEAM = 32
"""Choices of equal words that are kept in mind; sentences with fewer are searched wholly."""

Stem = Callable[[str], str]
Words = Sequence[str]


class Counted(NamedTuple):
    """What one sentence adds to the sums."""

    matches: int
    chunks: int
    words: int
    reference_words: int


@dataclass(frozen=True)
class Parameters:
    """How much recall weighs, and how much a broken order costs."""

    alpha: float = ALPHA
    beta: float = BETA
    gamma: float = GAMMA

    def of_sums(self, sums: Float[np.ndarray, "resamples 4"]) -> Statistics:
        """METEOR out of matches, chunks, words, words of the reference; 0 where nothing matches."""
        matches, chunks, words, wanted = np.moveaxis(sums, 1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision, recall = matches / words, matches / wanted
            mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
            found = mean * (1 - self.gamma * (chunks / matches) ** self.beta)
        return np.where(matches > 0, found, 0.0)


PUBLISHED = Parameters()


def meteor(
    outputs: Sequence[Words], references: Sequence[Sequence[Words]], *, stem: Stem | None = porter_stem, parameters: Parameters = PUBLISHED
) -> Rated:
    """METEOR of a corpus; `references[i]` are the references of output i. `stem` is for English, None matches equal words alone."""
    check_pairs(outputs, references)
    counted = []
    for output, several in zip(outputs, references, strict=True):
        each = [count(output, reference, stem=stem) for reference in several]
        values = parameters.of_sums(np.array(each, np.float64))
        counted.append(each[int(values.argmax())])
    table = np.array(counted, np.float64)
    how = f"equal words{' and stems (Porter)' if stem else ''}, α {parameters.alpha:g}, β {parameters.beta:g}, γ {parameters.gamma:g}"
    return Rated("meteor", Sums(np.arange(len(table)), table, parameters.of_sums), how)


def count(output: Words, reference: Words, *, stem: Stem | None = porter_stem) -> Counted:
    """
    >>> count("the cats sat".split(), "on the mat sat the cat".split())
    Counted(matches=3, chunks=3, words=3, reference_words=6)
    """
    matched = match_words(output, reference, stem=stem)
    return Counted(len(matched), count_chunks(matched), len(output), len(reference))


def count_chunks(matched: Sequence[tuple[int, int]]) -> int:
    """
    >>> count_chunks([(0, 4), (1, 5), (2, 3)]), count_chunks([(0, 0), (2, 1)])
    (2, 2)
    """
    follows = sum((place - 1, other - 1) == before for before, (place, other) in pairwise(matched))
    return len(matched) - follows


def match_words(output: Words, reference: Words, *, stem: Stem | None = porter_stem) -> list[tuple[int, int]]:
    """(place in the output, place in the reference) of every match, in the order of the output. A later stage leaves earlier matches as they are."""
    matched: list[tuple[int, int]] = []
    for key in (str, stem):
        if key is not None:
            matched = _match_more([key(word) for word in output], [key(word) for word in reference], matched)
    return sorted(matched)


class _Choice(NamedTuple):
    """Matches so far. Fewer crossings come first, then fewer chunks."""

    crossings: int
    chunks: int
    matched: tuple[tuple[int, int], ...]


def _match_more(output: Words, reference: Words, before: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """As many further matches of equal words as there can be, from left to right, keeping the choices whose lines cross least.

    A word that comes a times in the output and b times in the reference has min(a, b) matches, whichever they are. Lines of one word never need to
    cross each other: uncrossing two of them crosses nothing else more often.
    """
    given, taken = {place for place, _ in before}, {place for _, place in before}
    free = _places(reference, without=taken)
    ours = {word: places for word, places in _places(output, without=given).items() if word in free}
    choices = [_Choice(0, 0, ())]
    for place in sorted(place for places in ours.values() for place in places):
        word = output[place]
        longer = [found for choice in choices for found in _next(choice, place, ours[word], free[word], before)]
        choices = sorted(longer, key=lambda choice: choice[:2])[:BEAM]
    return [*before, *choices[0].matched]


def _places(words: Words, *, without: set[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        if place not in without:
            found.setdefault(word, []).append(place)
    return found


def _next(choice: _Choice, place: int, ours: Sequence[int], free: Sequence[int], before: Sequence[tuple[int, int]]) -> list[_Choice]:
    """A word goes to each place behind its last one that leaves enough for the rest of its kind; or to none, where there are too few for all."""
    own = [other for one, other in choice.matched if one in ours]
    wanted = min(len(ours), len(free)) - len(own)  # matches that are still to come
    left = len(ours) - ours.index(place)  # places of the output that may still have one, this one included
    open_places = [other for other in free if not own or other > own[-1]]
    drawn = (*before, *choice.matched)
    found = [choice] if left > wanted else []
    for other in open_places[: len(open_places) - wanted + 1] if wanted else []:
        crossings = sum((place - one) * (other - two) < 0 for one, two in drawn)
        begins = (place - 1, other - 1) not in drawn
        found.append(_Choice(choice.crossings + crossings, choice.chunks + begins, (*choice.matched, (place, other))))
    return found
