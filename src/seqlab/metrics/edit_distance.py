"""How many changes turn an output into its reference, and how many outputs need none.

    edits      = the fewest substitutions, insertions and deletions that turn the reference into the output
    error rate = Σ edits / Σ length of the reference                   of tokens, of characters, of phonemes; may exceed 1

Of alignments with as few edits, the one with the fewest insertions and deletions is counted. With several references the nearest counts.

Paper: Levenshtein 1966, "Binary Codes Capable of Correcting Deletions, Insertions and Reversals", Soviet Physics Doklady 10(8).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from seqlab.metrics.bleu import check_pairs
from seqlab.metrics.draft_score import Rated
from seqlab.metrics.items import Statistics, Sums, means

TOGETHER = 256
"""Pairs whose tables are filled side by side."""
LENGTHEN = 1
"""What an insertion or a deletion costs more than a substitution; far less than one edit, so that it only decides between equals."""
EDIT = 1 << 24

Symbols = Sequence[str]
"""Tokens, or the characters of a text."""
Edits = Int[np.ndarray, "pairs 4"]
"""Substitutions, insertions, deletions, and the length of the reference."""


def edits_between(pairs: Sequence[tuple[Symbols, Symbols]]) -> Edits:
    """For each (output, reference): substitutions, insertions (only in the output), deletions (only in the reference), length of the reference.

    >>> edits_between([("sitting", "kitten"), ("abc", "abc"), ("", "ab")]).tolist()
    [[2, 1, 0, 6], [0, 0, 0, 3], [0, 0, 2, 2]]
    """
    ids: dict[str, int] = {}
    rows = [[[ids.setdefault(symbol, len(ids)) for symbol in side] for side in pair] for pair in pairs]
    found = np.zeros((len(rows), 4), np.int64)
    order = sorted(range(len(rows)), key=lambda place: (len(rows[place][0]), len(rows[place][1])))  # equals together waste no cells
    for start in range(0, len(order), TOGETHER):
        places = order[start : start + TOGETHER]
        found[places] = _edits([rows[place][0] for place in places], [rows[place][1] for place in places])
    return found


def nearest_edits(outputs: Sequence[Symbols], references: Sequence[Sequence[Symbols]]) -> Edits:
    """The edits to the nearest of several references; of equally near ones to the longest, in which they weigh least."""
    check_pairs(outputs, references)
    found = edits_between([(output, reference) for output, several in zip(outputs, references, strict=True) for reference in several])
    sentences = np.repeat(np.arange(len(outputs)), [len(several) for several in references])
    best = np.lexsort((-found[:, 3], found[:, :3].sum(axis=1), sentences))
    return found[best[np.unique(sentences, return_index=True)[1]]]  # sorted by sentence first, so the first of each is its best


def error_rate(name: str, edits: Edits, *, of: str) -> Rated:
    """Σ edits / Σ length; a sentence is an item. `of` says what was counted."""
    items = Sums(np.arange(len(edits)), edits.astype(np.float64), edits_by_length)
    return Rated(name, items, f"edits of {of} to the nearest reference / its {of}", higher_is_better=False)


def token_error_rate(outputs: Sequence[Symbols], references: Sequence[Sequence[Symbols]], *, of: str = "tokens") -> Rated:
    """What speech recognition calls the word error rate, when tokens are words."""
    return error_rate("token_error_rate", nearest_edits(outputs, references), of=of)


def character_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Rated:
    return error_rate("character_error_rate", nearest_edits(outputs, references), of="characters")


def exact_match(outputs: Sequence[object], references: Sequence[Sequence[object]]) -> Rated:
    """The share of outputs that equal one of their references.

    >>> exact_match(["a", "b"], [["a"], ["c", "b"]]).items.whole()
    1.0
    """
    how = f"share of {len(outputs):,} that equal a reference"
    return Rated("exact_match", means(is_exact(outputs, references).astype(np.float64)), how)


def is_exact(outputs: Sequence[object], references: Sequence[Sequence[object]]) -> Bool[np.ndarray, " outputs"]:
    check_pairs(outputs, references)
    return np.array([output in several for output, several in zip(outputs, references, strict=True)])


def edits_by_length(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """Without anything to write, what is written is infinitely wrong, and nothing is right."""
    edits, length = sums[:, :3].sum(axis=1), sums[:, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(edits == 0, 0.0, edits / length)


def _edits(outputs: list[list[int]], references: list[list[int]]) -> Edits:
    """Fill the tables of many pairs row by row: a row is one symbol of the outputs, its cells the symbols of the references.

    Along a row a cell is the least of `above` and its left neighbour plus a deletion: a running minimum, once the price of walking is taken off.
    """
    lengths, wanted = np.array([len(row) for row in outputs]), np.array([len(row) for row in references])
    written, truth = _padded(outputs, fill=-1), _padded(references, fill=-2)  # the fills differ, so they never match
    price = EDIT + LENGTHEN
    walk = price * np.arange(truth.shape[1] + 1)
    row = np.broadcast_to(walk, (len(outputs), len(walk))).copy()  # (pairs, reference + 1)
    cost = row[np.arange(len(row)), wanted]
    for step in range(written.shape[1]):
        above = row + price  # insert this symbol
        swapped = row[:, :-1] + EDIT * (truth != written[:, step, None])
        above[:, 1:] = np.minimum(above[:, 1:], swapped)
        row = np.minimum.accumulate(above - walk, axis=1) + walk
        ends = lengths == step + 1
        cost[ends] = row[ends, wanted[ends]]
    edits, lengthened = np.divmod(cost, EDIT)
    insertions = (lengthened + lengths - wanted) // 2
    deletions = lengthened - insertions
    return np.stack([edits - lengthened, insertions, deletions, wanted], axis=1)


def _padded(rows: list[list[int]], *, fill: int) -> Int[np.ndarray, "pairs longest"]:
    found = np.full((len(rows), max((len(row) for row in rows), default=0)), fill, np.int64)
    for place, row in enumerate(rows):
        found[place, : len(row)] = row
    return found
