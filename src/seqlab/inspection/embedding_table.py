"""The embedding of a run as a table of words and vectors."""

from __future__ import annotations

from seqlab.runs.run import Run
from seqlab.tokens.vocabulary import PAD
from seqlab.tokens.word_vectors import WordVectors


def read_embedding_table(run: Run) -> WordVectors:
    """The result of `run.word_vectors()` without padding, whose row is zero and has no direction."""
    return WordVectors(*run.word_vectors()).without([PAD])
