"""Edit distance, error rates (such as WER) and exact match.

    edits      = the fewest substitutions, insertions and deletions that turn the reference into the output
    error rate = Σ edits / Σ length of the reference                   of tokens, of characters, of phonemes; may exceed 1

Among alignments with the fewest edits, the one with the fewest insertions and deletions counts. With several
references the nearest counts.

Paper: Levenshtein 1966, "Binary Codes Capable of Correcting Deletions, Insertions and Reversals", Soviet
Physics Doklady 10(8).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.bleu import check_references
from seqlab.metrics.draft_score import DraftScore
from seqlab.metrics.items import Statistics, SumItems, mean_items

BATCH_SIZE = 256
"""Number of pairs whose tables are filled in parallel."""
GAP_SURCHARGE = 1
"""The extra cost of an insertion or a deletion over a substitution; far less than one edit, so that it only
breaks ties.
"""
EDIT_COST = 1 << 24

Tokens = Sequence[str]
"""Tokens, or the characters of a text."""
Edits = Int[np.ndarray, "pairs 4"]
"""Substitutions, insertions, deletions, and the length of the reference."""


def count_edits(pairs: Sequence[tuple[Tokens, Tokens]]) -> Edits:
    """For each (output, reference): substitutions, insertions (only in the output), deletions (only in the
    reference), length of the reference.

    >>> count_edits([("sitting", "kitten"), ("abc", "abc"), ("", "ab")]).tolist()
    [[2, 1, 0, 6], [0, 0, 0, 3], [0, 0, 2, 2]]
    """
    ids: dict[str, int] = {}
    rows = [[[ids.setdefault(symbol, len(ids)) for symbol in side] for side in pair] for pair in pairs]
    edits = np.zeros((len(rows), 4), np.int64)
    order = sorted(
        range(len(rows)), key=lambda index: (len(rows[index][0]), len(rows[index][1]))
    )  # batching pairs of similar length wastes few cells
    for start in range(0, len(order), BATCH_SIZE):
        indices = order[start : start + BATCH_SIZE]
        edits[indices] = _edits([rows[index][0] for index in indices], [rows[index][1] for index in indices])
    return edits


def nearest_edits(outputs: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> Edits:
    """The edits to the nearest of several references; ties go to the longest, for which the error rate is
    lowest.
    """
    check_references(outputs, references)
    edits = count_edits(
        [
            (output, reference)
            for output, sentence_references in zip(outputs, references, strict=True)
            for reference in sentence_references
        ]
    )
    sentences = np.repeat(
        np.arange(len(outputs)), [len(sentence_references) for sentence_references in references]
    )
    best = np.lexsort((-edits[:, 3], edits[:, :3].sum(axis=1), sentences))
    return edits[
        best[np.unique(sentences, return_index=True)[1]]
    ]  # sorted by sentence first, so the first of each is the best


def error_rate(name: str, edits: Edits, *, unit: str) -> DraftScore:
    """Σ edits / Σ length, with a sentence as item. `unit` names what is counted."""
    items = SumItems(np.arange(len(edits)), edits.astype(np.float64), error_rate_from_sums)
    return DraftScore(
        name, items, f"edits of {unit} to the nearest reference / {unit} in it", higher_is_better=False
    )


def token_error_rate(
    outputs: Sequence[Tokens], references: Sequence[Sequence[Tokens]], *, unit: str = "tokens"
) -> DraftScore:
    """The word error rate (WER) if tokens are words."""
    return error_rate("token_error_rate", nearest_edits(outputs, references), unit=unit)


def character_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> DraftScore:
    return error_rate("character_error_rate", nearest_edits(outputs, references), unit="characters")


def exact_match(outputs: Sequence[object], references: Sequence[Sequence[object]]) -> DraftScore:
    """The fraction of outputs that equal one of their references.

    >>> exact_match(["a", "b"], [["a"], ["c", "b"]]).items.full_score()
    1.0
    """
    method = f"fraction of {len(outputs):,} outputs that equal a reference"
    return DraftScore(
        "exact_match", mean_items(exact_matches(outputs, references).astype(np.float64)), method
    )


def exact_matches(
    outputs: Sequence[object], references: Sequence[Sequence[object]]
) -> Bool[np.ndarray, " outputs"]:
    check_references(outputs, references)
    return np.array(
        [
            output in sentence_references
            for output, sentence_references in zip(outputs, references, strict=True)
        ]
    )


def error_rate_from_sums(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """With empty references, the error rate is 0 for empty outputs and infinite otherwise."""
    edits, length = sums[:, :3].sum(axis=1), sums[:, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(edits == 0, 0.0, edits / length)


def _edits(outputs: list[list[int]], references: list[list[int]]) -> Edits:
    """Fill the dynamic programming tables of many pairs row by row: one row per output symbol, one column per
    reference symbol.

    Within a row a cell is the minimum of `above` and its left neighbor plus a deletion: a running minimum
    after subtracting the cumulative deletion cost.
    """
    lengths, reference_lengths = (
        np.array([len(row) for row in outputs]),
        np.array([len(row) for row in references]),
    )
    output_ids, reference_ids = (
        _padded(outputs, fill=-1),
        _padded(references, fill=-2),
    )  # the two padding values differ, so they never match
    gap_cost = EDIT_COST + GAP_SURCHARGE
    gap_costs = gap_cost * np.arange(reference_ids.shape[1] + 1)
    row = np.broadcast_to(gap_costs, (len(outputs), len(gap_costs))).copy()  # (pairs, reference + 1)
    cost = row[np.arange(len(row)), reference_lengths]
    for step in range(output_ids.shape[1]):
        above = row + gap_cost  # insert this symbol
        substituted = row[:, :-1] + EDIT_COST * (reference_ids != output_ids[:, step, None])
        above[:, 1:] = np.minimum(above[:, 1:], substituted)
        row = np.minimum.accumulate(above - gap_costs, axis=1) + gap_costs
        ends = lengths == step + 1
        cost[ends] = row[ends, reference_lengths[ends]]
    edits, num_gaps = np.divmod(cost, EDIT_COST)
    insertions = (num_gaps + lengths - reference_lengths) // 2
    deletions = num_gaps - insertions
    return np.stack([edits - num_gaps, insertions, deletions, reference_lengths], axis=1)


def _padded(rows: list[list[int]], *, fill: int) -> Int[np.ndarray, "pairs longest"]:
    padded = np.full((len(rows), max((len(row) for row in rows), default=0)), fill, np.int64)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = row
    return padded
