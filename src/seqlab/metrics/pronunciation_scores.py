"""Spelling to sound: words that have several right pronunciations.

    WER = words none of whose listed pronunciations was found / words
    PER = Σ edits to the nearest listed pronunciation / Σ its phonemes

Dictionaries list a word once for each of its pronunciations; `gathered` makes one word with several references of them, since a model gives
one answer for one spelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from seqlab.metrics.edit_distance import error_rate, is_exact, nearest_edits
from seqlab.metrics.items import means
from seqlab.metrics.rated import Rated

Phonemes = Sequence[str]


def gathered(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Every source with all its different targets, in the order of their first coming.

    >>> gathered([("read", "R IY D"), ("lead", "L EH D"), ("read", "R EH D"), ("read", "R IY D")])
    {'read': ['R IY D', 'R EH D'], 'lead': ['L EH D']}
    """
    found: dict[str, dict[str, None]] = {}
    for source, target in pairs:
        found.setdefault(source, {})[target] = None
    return {source: list(targets) for source, targets in found.items()}


def pronunciation_scores(outputs: Sequence[Phonemes], references: Sequence[Sequence[Phonemes]]) -> list[Rated]:
    """WER and PER; `references[i]` are the listed pronunciations of word i."""
    words = [tuple(output) for output in outputs]
    listed = [[tuple(each) for each in several] for several in references]
    missed = ~is_exact(words, listed)
    how = f"share of {len(words):,} words with none of their listed pronunciations"
    return [
        Rated("wer", means(missed.astype(np.float64)), how, higher_is_better=False),
        error_rate("per", nearest_edits(words, listed), of="phonemes"),
    ]
