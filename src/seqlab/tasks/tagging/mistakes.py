"""The wrong words with the highest loss, in their context."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqlab.pages.report_data import WrongExample
from seqlab.tasks.labeled.evaluator import MAX_MISTAKES
from seqlab.tasks.tagging.codec import TaggingCodec
from seqlab.tasks.tagging.predictions import TagPredictions
from seqlab.tasks.tagging.split import TaggedSplit

CONTEXT = 8
"""Words on either side of a mistake."""


def wrong_words(codec: TaggingCodec, split: TaggedSplit, predictions: TagPredictions) -> list[WrongExample]:
    """Each in square brackets among its neighbors."""
    words, sentences = predictions.words, predictions.sentences
    worst = words.worst_mistakes(MAX_MISTAKES).tolist()
    rows = split.rows_at({int(sentences[place]) for place in worst})
    first_words = np.searchsorted(sentences, np.arange(len(split)))
    examples = []
    for place in worst:
        sentence, predicted = int(sentences[place]), int(words.predicted[place])
        names = codec.inputs.names_of(rows[sentence])
        examples.append(
            WrongExample(
                where=rows[sentence].where,
                text=in_context(names, place - int(first_words[sentence])),
                truth=codec.labels.decode(int(words.targets[place])),
                predicted=codec.labels.decode(predicted),
                predicted_probability=float(np.exp(words.log_probs[place, predicted])),
                truth_probability=float(np.exp(-words.nats[place])),
            )
        )
    return examples


def in_context(words: Sequence[str], place: int) -> str:
    """The word at a place in square brackets, with some words on either side.

    >>> in_context(["the", "old", "man", "the", "boats"], 2)
    'the old [man] the boats'
    """
    start, stop = max(0, place - CONTEXT), place + CONTEXT + 1
    marked = [f"[{word}]" if number == place else word for number, word in enumerate(words)]
    before, after = ["…"] if start else [], ["…"] if stop < len(words) else []
    return " ".join([*before, *marked[start:stop], *after])
