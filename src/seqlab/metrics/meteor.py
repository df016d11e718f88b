"""METEOR: word matches (exact or by stem) between an output and its reference, with a penalty for word order.

    match         each word of the output with at most one of the reference: equal words first, then equal stems;
                  as many matches as possible, and among those choices the one with the fewest crossings
    precision P   = matches / words of the output,      recall R = matches / words of the reference
    F_mean        = P R / (α P + (1 - α) R)             α = 0.9: 10 P R / (R + 9 P)
    penalty       = γ (chunks / matches)^β              γ = 0.5, β = 3; a chunk is a run of matches that are adjacent in both
    METEOR        = F_mean (1 - penalty)                0 … 1

Matches, chunks and words are summed over the corpus before the division. With several references the one with
the best score for a sentence counts. The paper's third stage, WordNet synonyms, is not implemented, since it
needs an English dictionary.

Paper: Banerjee & Lavie 2005, "METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with
Human Judgments", ACL workshop on evaluation measures, section 2.2.
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
"""Choices of equal words that are kept in mind; sentences with fewer are searched wholly."""

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
        f"equal words{' and stems (Porter)' if stem else ''}, α {parameters.alpha:g}, β {parameters.beta:g},"
        f" γ {parameters.gamma:g}"
    )
    return DraftScore("meteor", SumItems(np.arange(len(table)), table, parameters.score_from_sums), method)


def count_matches(output: Words, reference: Words, *, stem: Stem | None = porter_stem) -> MeteorCounts:
    """
    >>> count_matches("the cats sat".split(), "on the mat sat the cat".split())
    MeteorCounts(matches=3, chunks=3, words=3, reference_words=6)
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

    A later stage does not change earlier matches.
    """
    matched: list[tuple[int, int]] = []
    for key in (str, stem):
        if key is not None:
            matched = _match_stage([key(word) for word in output], [key(word) for word in reference], matched)
    return sorted(matched)


class _Matching(NamedTuple):
    """Matches so far, ordered by fewest crossings, then fewest chunks."""

    crossings: int
    chunks: int
    matched: tuple[tuple[int, int], ...]


def _match_stage(
    output: Words, reference: Words, matched_before: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Add as many matches of equal words as possible, from left to right, with the fewest crossings.

    A word that occurs a times in the output and b times in the reference has min(a, b) matches in any case.
    Matches of the same word never need to cross: uncrossing two of them never adds other crossings.
    """
    output_taken, reference_taken = (
        {position for position, _ in matched_before},
        {position for _, position in matched_before},
    )
    reference_positions = _positions_by_word(reference, without=reference_taken)
    output_positions = {
        word: positions
        for word, positions in _positions_by_word(output, without=output_taken).items()
        if word in reference_positions
    }
    matchings = [_Matching(0, 0, ())]
    for position in sorted(position for positions in output_positions.values() for position in positions):
        word = output[position]
        extended = [
            candidate
            for matching in matchings
            for candidate in _extend_matching(
                matching, position, output_positions[word], reference_positions[word], matched_before
            )
        ]
        matchings = sorted(extended, key=lambda matching: matching[:2])[:BEAM]
    return [*matched_before, *matchings[0].matched]


def _positions_by_word(words: Words, *, without: set[int]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        if position not in without:
            positions.setdefault(word, []).append(position)
    return positions


def _extend_matching(
    matching: _Matching,
    position: int,
    output_positions: Sequence[int],
    reference_positions: Sequence[int],
    matched_before: Sequence[tuple[int, int]],
) -> list[_Matching]:
    """Candidate positions for a word: each one after its last match that leaves enough for its remaining
    occurrences, or none if there are too few for all.
    """
    own_positions = [
        other for output_position, other in matching.matched if output_position in output_positions
    ]
    num_missing = min(len(output_positions), len(reference_positions)) - len(
        own_positions
    )  # matches that are still to come
    num_left = len(output_positions) - output_positions.index(
        position
    )  # output positions that may still be matched, including this one
    open_positions = [
        other for other in reference_positions if not own_positions or other > own_positions[-1]
    ]
    all_matches = (*matched_before, *matching.matched)
    matchings = [matching] if num_left > num_missing else []
    for other in open_positions[: len(open_positions) - num_missing + 1] if num_missing else []:
        crossings = sum(
            (position - output_position) * (other - reference_position) < 0
            for output_position, reference_position in all_matches
        )
        begins = (position - 1, other - 1) not in all_matches
        matchings.append(
            _Matching(
                matching.crossings + crossings,
                matching.chunks + begins,
                (*matching.matched, (position, other)),
            )
        )
    return matchings
