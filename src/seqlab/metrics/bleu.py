"""BLEU: n-gram precision of an output against references, for n = 1 to 4.

    p_n   = Σ clipped matches of n-grams / Σ n-grams of the outputs           each n-gram counts at most as often as in one reference
    BP    = min(1, exp(1 - r / c))                                            c tokens in all outputs, r in the nearest references
    BLEU  = BP · (p_1 p_2 p_3 p_4)^(1/4)                                      0 … 1

All sums run over the whole corpus before the division, so corpus BLEU is not the mean of sentence BLEUs; an
interval resamples sentences and adds up their counts again. A p_n without a match counts as 1 / 2^k of one
match, the k-th time that happens, as in the scripts of NIST and sacrebleu; without any match BLEU is 0.

Papers: Papineni, Roukos, Ward & Zhu 2002, "BLEU: a Method for Automatic Evaluation of Machine Translation",
ACL, section 2; the smoothing: Chen & Cherry 2014, "A Systematic Comparison of Smoothing Techniques for
Sentence-Level BLEU", WMT, method 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float

from seqlab.core.errors import UsageError
from seqlab.metrics.items import Statistics, SumItems

ORDER = 4
"""The longest n-gram."""

Tokens = Sequence[str]


def corpus_bleu(
    outputs: Sequence[Tokens], references: Sequence[Sequence[Tokens]], *, order: int = ORDER
) -> float:
    """BLEU of a corpus, 0 … 1; `references[i]` are the references of output i, one or several.

    >>> round(corpus_bleu(["a b c d e".split()], [["a b c d f".split()]]), 4)
    0.6687
    """
    return bleu_items(outputs, references, order=order).full_score()


def bleu_items(
    outputs: Sequence[Tokens], references: Sequence[Sequence[Tokens]], *, order: int = ORDER
) -> SumItems:
    """The sentences of a corpus as items, whose summed counts give BLEU in 0 … 1."""
    check_references(outputs, references)
    table = np.array(
        [bleu_counts(*pair, order=order) for pair in zip(outputs, references, strict=True)], np.float64
    )
    return SumItems(np.arange(len(table)), table, bleu_from_sums)


def bleu_counts(output: Tokens, references: Sequence[Tokens], *, order: int = ORDER) -> list[int]:
    """The counts of one sentence: its length, that of the nearest reference, clipped matches for n = 1 …
    order, n-grams for n = 1 … order.

    If two references are equally close in length, the shorter one counts.
    """
    nearest = min((abs(len(reference) - len(output)), len(reference)) for reference in references)[1]
    matched, total = [], []
    for n in range(1, order + 1):
        max_counts: Counter[tuple[str, ...]] = Counter()
        for reference in references:
            max_counts |= Counter(ngrams(reference, n))  # the larger count of each n-gram
        output_counts = Counter(ngrams(output, n))
        matched.append((output_counts & max_counts).total())  # the smaller count of each n-gram
        total.append(output_counts.total())
    return [len(output), nearest, *matched, *total]


def modified_precision(outputs: Sequence[Tokens], references: Sequence[Sequence[Tokens]], n: int) -> float:
    """p_n without smoothing.

    >>> modified_precision(["the the the the the the the".split()], [["the cat is on the mat".split(), "there is a cat on the mat".split()]], 1)
    0.2857142857142857
    """
    check_references(outputs, references)
    matched, total = (
        np.array([bleu_counts(*pair, order=n) for pair in zip(outputs, references, strict=True)])[
            :, [1 + n, 1 + 2 * n]
        ]
        .sum(axis=0)
        .tolist()
    )
    return matched / total if total else 0.0


def ngrams(tokens: Tokens, n: int) -> Iterable[tuple[str, ...]]:
    """
    >>> list(ngrams("a b c".split(), 2))
    [('a', 'b'), ('b', 'c')]
    """
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def bleu_from_sums(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """BLEU in 0 … 1 from summed counts: length, reference length, matches, n-grams."""
    order = (sums.shape[1] - 2) // 2
    length, reference_length = sums[:, 0], sums[:, 1]
    matched, total = sums[:, 2 : 2 + order], sums[:, 2 + order :]  # (resamples, order) each
    is_missed = (matched == 0) & (total > 0)
    matched = np.where(is_missed, 0.5 ** np.cumsum(is_missed, axis=1), matched)
    with np.errstate(divide="ignore", invalid="ignore"):
        brevity = np.where(length < reference_length, np.exp(1 - reference_length / length), 1.0)
        scores: Statistics = brevity * np.exp(np.log(matched / total).mean(axis=1))
    return np.where((sums[:, 2 : 2 + order] == 0).all(axis=1) | (total == 0).any(axis=1), 0.0, scores)


def check_references(outputs: Sequence[object], references: Sequence[Sequence[object]]) -> None:
    """Check that every output has at least one reference."""
    if not len(outputs):
        raise UsageError("there are no outputs to score.", cure="Pass at least one sentence.")
    if len(outputs) != len(references):
        raise UsageError(
            f"there are {len(outputs):,} outputs, but references for {len(references):,}.",
            cure="Pass one list of references for each output.",
        )
    for number, sentence_references in enumerate(references, start=1):
        if isinstance(sentence_references, str) or not len(sentence_references):
            what = "is a text" if isinstance(sentence_references, str) else "is empty"
            raise UsageError(
                f"the list of references of output {number} {what}.",
                cure='Expected a list with at least one reference: ["…"].',
            )
