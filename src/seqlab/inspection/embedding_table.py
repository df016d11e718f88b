"""The embedding of a run as a table of words and vectors."""

from __future__ import annotations

from seqlab.runs.run import Run
from seqlab.tokens.vocabulary import PAD
from seqlab.tokens.word_vectors import WordVectors


def read_embedding_table(run: Run) -> WordVectors:
    """What `run.word_vectors()` gives, without padding: its row is zero, so it points nowhere."""
    return WordVectors(*run.word_vectors()).without([PAD])
