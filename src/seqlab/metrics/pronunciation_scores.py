"""Scores of grapheme-to-phoneme conversion, where a word may have several correct pronunciations.

    WER = words whose output matches none of the listed pronunciations / words
    PER = Σ edits to the nearest listed pronunciation / Σ its phonemes

Dictionaries list a word once for each of its pronunciations; here it is one word with several references,
since a model gives one answer for one spelling.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqlab.metrics.draft_score import DraftScore
from seqlab.metrics.edit_distance import error_rate, exact_matches, nearest_edits
from seqlab.metrics.items import mean_items

Phonemes = Sequence[str]


def pronunciation_scores(
    outputs: Sequence[Phonemes], references: Sequence[Sequence[Phonemes]]
) -> list[DraftScore]:
    """WER and PER; `references[i]` are the listed pronunciations of word i."""
    words = [tuple(output) for output in outputs]
    references_by_word = [
        [tuple(pronunciation) for pronunciation in pronunciations] for pronunciations in references
    ]
    is_missed = ~exact_matches(words, references_by_word)
    method = f"fraction of {len(words):,} words that match none of their listed pronunciations"
    return [
        DraftScore("wer", mean_items(is_missed.astype(np.float64)), method, higher_is_better=False),
        error_rate("per", nearest_edits(words, references_by_word), unit="phonemes"),
    ]
