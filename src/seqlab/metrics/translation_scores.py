"""BLEU, chrF and TER of translations from sacrebleu, with intervals and tests that resample sentences.

sacrebleu tokenizes and counts, and documents this in its signature. Its counts for every sentence are summed
here, so that the score of any selection of sentences costs one sum (Koehn 2004: the paired bootstrap). All
three are in percent, as reported in papers.

    BLEU   bleu.py, times 100; tokens of mteval-v13a, case-sensitive
    chrF   F_2 of the mean precision and the mean recall of character n-grams, n = 1 to 6, without spaces
    TER    edits of words and moves of blocks of words / words in the reference; lower is better, case-insensitive

Papers: Post 2018, "A Call for Clarity in Reporting BLEU Scores", arXiv:1804.08771; Popović 2015, "chrF:
character n-gram F-score for automatic MT evaluation", WMT; Snover et al. 2006, "A Study of Translation Edit
Rate with Targeted Human Annotation", AMTA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import Any

import numpy as np
from jaxtyping import Float

from seqlab.core.errors import UsageError, nearest
from seqlab.metrics.bleu import bleu_from_sums, check_references
from seqlab.metrics.draft_score import DraftScore
from seqlab.metrics.edit_distance import token_error_rate
from seqlab.metrics.items import ScoreFromSums, Statistics, SumItems, ratio_of_sums
from seqlab.metrics.meteor import meteor
from seqlab.metrics.porter import porter_stem

BETA = 2
"""chrF: the weight of recall relative to precision."""
PERCENT = 100.0


def bleu_percent(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    return PERCENT * bleu_from_sums(sums)


def chrf_percent(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """From the n-gram counts (in the output, in the reference, in both) for each n; orders that one side
    lacks are skipped.
    """
    output_ngrams, reference_ngrams, matched = (
        sums[:, first::3] for first in range(3)
    )  # (resamples, lengths) each
    has_ngrams = (output_ngrams > 0) & (reference_ngrams > 0)
    num_counts = np.maximum(has_ngrams.sum(axis=1), 1)
    precision = np.where(has_ngrams, matched / np.maximum(output_ngrams, 1), 0.0).sum(axis=1) / num_counts
    recall = np.where(has_ngrams, matched / np.maximum(reference_ngrams, 1), 0.0).sum(axis=1) / num_counts
    denominator = BETA**2 * precision + recall
    return PERCENT * (1 + BETA**2) * precision * recall / np.where(denominator > 0, denominator, 1.0)


def ter_percent(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    """From (edits, words in the reference); against empty references any output scores 100."""
    return PERCENT * np.where(sums[:, 1] > 0, ratio_of_sums(sums), np.sign(sums[:, 0]))


@dataclass(frozen=True)
class SacrebleuMetric:
    """One of sacrebleu's metrics: its class, its non-default options, and the function from sums to the
    score.
    """

    metric: str
    score: ScoreFromSums
    options: Mapping[str, Any]
    higher_is_better: bool = True


# force: no warning if outputs look tokenized; the caller chooses what to score, and the signature documents
# it.
SACREBLEU_METRICS: dict[str, SacrebleuMetric] = {
    "bleu": SacrebleuMetric("BLEU", bleu_percent, {"force": True}),
    "bleu_lower": SacrebleuMetric("BLEU", bleu_percent, {"force": True, "lowercase": True}),
    "bleu_tokens_lower": SacrebleuMetric(
        "BLEU", bleu_percent, {"force": True, "lowercase": True, "tokenize": "none"}
    ),
    "chrf": SacrebleuMetric("CHRF", chrf_percent, {"beta": BETA}),
    "ter": SacrebleuMetric("TER", ter_percent, {}, higher_is_better=False),
}
"""bleu_lower: case-insensitive, with sacrebleu's tokenization; bleu_tokens_lower: the same for texts that
are already tokenized by spaces, as for `multi-bleu.perl -lc`.
"""
REPORTED = ("bleu", "bleu_lower", "chrf", "ter")


def sacrebleu_score(name: str, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> DraftScore:
    """One score of a corpus; `references[i]` are the references of output i, one or several."""
    if name not in SACREBLEU_METRICS:
        raise UsageError(f"there is no score '{name}'.", cure=nearest(name, SACREBLEU_METRICS))
    check_references(outputs, references)
    from sacrebleu import metrics  # takes 0.1 s to import, and only text scores need it

    chosen = SACREBLEU_METRICS[name]
    metric = getattr(metrics, chosen.metric)(**chosen.options)
    by_rank = list(
        zip_longest(*references)
    )  # first references of all, second references of all, …; None where there are fewer
    statistics = metric._extract_corpus_statistics(outputs, by_rank)  # noqa: SLF001 (its own significance tests use the same; no public face)
    table = np.array(statistics, np.float64)
    signature = f"{metric.get_signature()}"
    return DraftScore(
        name,
        SumItems(np.arange(len(table)), table, chosen.score),
        f"sacrebleu {signature}",
        chosen.higher_is_better,
    )


def translation_scores(
    outputs: Sequence[str], references: Sequence[Sequence[str]], *, in_english: bool = False
) -> list[DraftScore]:
    """BLEU (case-sensitive and case-insensitive), chrF, TER, METEOR and the word error rate of a corpus;
    METEOR uses stems for English outputs.
    """
    scores = [sacrebleu_score(name, outputs, references) for name in REPORTED]
    words = (
        [tokenize_13a(output) for output in outputs],
        [
            [tokenize_13a(reference) for reference in sentence_references]
            for sentence_references in references
        ],
    )
    return [
        *scores,
        meteor(*words, stem=porter_stem if in_english else None),
        token_error_rate(*words, unit="lowercase words"),
    ]


def tokenize_13a(text: str) -> list[str]:
    """The lowercased tokens of mteval-v13a.

    >>> tokenize_13a("It's 5,000 km away.")
    ["it's", '5,000', 'km', 'away', '.']
    """
    return _tokenizer_13a()(text.lower()).split()


@cache
def _tokenizer_13a() -> Callable[[str], str]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()  # type: ignore[no-untyped-call] # sacrebleu gives it no types
