"""METEOR: word matches (exact or by stem) between an output and its reference, with a penalty for word order.

    match         each word of the output with at most one of the reference: equal words first, then equal stems;
                  as many matches as possible, and among those choices the one with the fewest chunks, then crossings
    precision P   = matches / words of the output,      recall R = matches / words of the reference
    F_mean        = P R / (α P + (1 - α) R)             α = 0.9: 10 P R / (R + 9 P)
    penalty       = γ (chunks / matches)^β              γ = 0.5, β = 3; a chunk is a run of matches that are adjacent in both
    METEOR        = F_mean (1 - penalty)                0 … 1

Matches, chunks and words are summed over the corpus before the division. With several references the one with
the best score for a sentence counts. The paper's third stage, WordNet synonyms, is not implemented, since it
needs an English dictionary.

Paper: Banerjee & Lavie 2005, "METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with
Human Judgments", ACL workshop on evaluation measures, section 2.2. The choice by fewest chunks is that of
METEOR 1.3 and later: Denkowski & Lavie 2014, "Meteor Universal", WMT, section 2; the first paper took the fewest
crossings, which can break up a chunk. nltk takes the last of equal words, so it never has fewer chunks and its score
is at most this one; it is the same where no word or stem comes twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from seqlab.metrics.bleu import check_references
from seqlab.metrics.draft_score import DraftScore
from seqlab.metrics.items import Statistics, SumItems
from seqlab.metrics.porter import porter_stem

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
BEAM = 32
"""Beam size of the search for matchings; sentences with fewer of them are searched exhaustively."""

Stem = Callable[[str], str]
Words = Sequence[str]


class MeteorCounts(NamedTuple):
    """The counts of one sentence."""

    matches: int
    chunks: int
    words: int
    reference_words: int


@dataclass(frozen=True)
class MeteorParameters:
    """The weight of recall, and the penalty for fragmented order."""

    alpha: float = ALPHA
    beta: float = BETA
    gamma: float = GAMMA

    def score_from_sums(self, sums: Float[np.ndarray, "resamples 4"]) -> Statistics:
        """METEOR from matches, chunks, words and reference words; 0 without matches."""
        matches, chunks, words, reference_words = np.moveaxis(sums, 1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision, recall = matches / words, matches / reference_words
            mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
            scores = mean * (1 - self.gamma * (chunks / matches) ** self.beta)
        return np.where(matches > 0, scores, 0.0)


DEFAULT_PARAMETERS = MeteorParameters()


def meteor(
    outputs: Sequence[Words],
    references: Sequence[Sequence[Words]],
    *,
    stem: Stem | None = porter_stem,
    parameters: MeteorParameters = DEFAULT_PARAMETERS,
) -> DraftScore:
    """METEOR of a corpus; `references[i]` are the references of output i.

    `stem` is for English; None matches equal words only.
    """
    check_references(outputs, references)
    best_counts = []
    for output, sentence_references in zip(outputs, references, strict=True):
        candidates = [count_matches(output, reference, stem=stem) for reference in sentence_references]
        values = parameters.score_from_sums(np.array(candidates, np.float64))
        best_counts.append(candidates[int(values.argmax())])
    table = np.array(best_counts, np.float64)
    method = (
        f"exact matches{' and stems (Porter)' if stem else ''}, α {parameters.alpha:g}, β"
        f" {parameters.beta:g}, γ {parameters.gamma:g}"
    )
    return DraftScore("meteor", SumItems(np.arange(len(table)), table, parameters.score_from_sums), method)


def count_matches(output: Words, reference: Words, *, stem: Stem | None = porter_stem) -> MeteorCounts:
    """
    >>> count_matches("the cats sat".split(), "on the mat sat the cat".split())
    MeteorCounts(matches=3, chunks=2, words=3, reference_words=6)
    """
    matched = match_words(output, reference, stem=stem)
    return MeteorCounts(len(matched), count_chunks(matched), len(output), len(reference))


def count_chunks(matched: Sequence[tuple[int, int]]) -> int:
    """
    >>> count_chunks([(0, 4), (1, 5), (2, 3)]), count_chunks([(0, 0), (2, 1)])
    (2, 2)
    """
    follows = sum(
        (position - 1, other - 1) == matched_before for matched_before, (position, other) in pairwise(matched)
    )
    return len(matched) - follows


def match_words(output: Words, reference: Words, *, stem: Stem | None = porter_stem) -> list[tuple[int, int]]:
    """(position in the output, position in the reference) of every match, in the order of the output.

    A later stage does not change earlier matches, but it decides between earlier choices of equal value.
    """
    matchings = [_Matching(0, 0, ())]
    for key in (str, stem):
        if key is not None:
            keyed = [key(word) for word in output], [key(word) for word in reference]
            matchings = _match_stage(*keyed, matchings)
    return sorted(matchings[0].matched)


class _Matching(NamedTuple):
    """Matches so far, ordered by fewest chunks, then fewest crossings."""

    chunks: int
    crossings: int
    matched: tuple[tuple[int, int], ...]


class _OpenPositions(NamedTuple):
    """Where a word may still be matched at the beginning of a stage."""

    output: list[int]
    reference: list[int]


def _match_stage(output: Words, reference: Words, matchings: list[_Matching]) -> list[_Matching]:
    """Add as many matches of equal words as possible, from left to right; the best matchings first.

    A word that occurs a times in the output and b times in the reference has min(a, b) matches in any case.
    """
    states = [(_open_positions(output, reference, matching), matching) for matching in matchings]
    for position, word in enumerate(output):
        extended = [
            (open_positions, candidate)
            for open_positions, matching in states
            for candidate in _extend_matching(matching, position, open_positions.get(word))
        ]
        states = sorted(extended, key=lambda state: state[1][:2])[:BEAM]
    return [matching for _, matching in states]


def _open_positions(output: Words, reference: Words, matching: _Matching) -> dict[str, _OpenPositions]:
    """For every word that is open on both sides."""
    in_output = _positions_by_word(output, without={position for position, _ in matching.matched})
    in_reference = _positions_by_word(reference, without={position for _, position in matching.matched})
    return {
        word: _OpenPositions(in_output[word], in_reference[word])
        for word in in_output.keys() & in_reference.keys()
    }


def _positions_by_word(words: Words, *, without: set[int]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        if position not in without:
            positions.setdefault(word, []).append(position)
    return positions


def _extend_matching(
    matching: _Matching, position: int, open_positions: _OpenPositions | None
) -> list[_Matching]:
    """The matchings with one more word of the output: with every place in the reference that is still free,
    and without a match if the other occurrences of the word can have all of them.
    """
    if open_positions is None or position not in open_positions.output:
        return [matching]
    matched = dict(matching.matched)
    num_own = sum(place in matched for place in open_positions.output)
    num_missing = min(len(open_positions.output), len(open_positions.reference)) - num_own
    num_left = len(open_positions.output) - open_positions.output.index(position)
    taken = set(matched.values())
    matchings = [matching] if num_left > num_missing else []
    for other in open_positions.reference if num_missing else []:
        if other not in taken:
            crossings = sum((position - place) * (other - goal) < 0 for place, goal in matching.matched)
            # A match of an earlier stage may follow it.
            joined = (matched.get(position - 1) == other - 1) + (matched.get(position + 1) == other + 1)
            matchings.append(
                _Matching(
                    matching.chunks + 1 - joined,
                    matching.crossings + crossings,
                    (*matching.matched, (position, other)),
                )
            )
    return matchings
