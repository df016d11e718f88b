"""Spelling to sound: words that have several right pronunciations.

    WER = words none of whose listed pronunciations was found / words
    PER = Σ edits to the nearest listed pronunciation / Σ its phonemes

Dictionaries list a word once for each of its pronunciations; here it is one word with several references, since a model gives one answer for
one spelling.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqlab.metrics.draft_score import Rated
from seqlab.metrics.edit_distance import error_rate, is_exact, nearest_edits
from seqlab.metrics.items import means

Phonemes = Sequence[str]


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
