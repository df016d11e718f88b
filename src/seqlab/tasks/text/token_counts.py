"""Count tokens in training, and group them by frequency for reports."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from seqlab.batches.stored_column import StoredColumn

CHUNK = 1 << 22
"""Number of tokens counted at once."""
COUNT_EDGES = (0, 9, 99, 999, 9_999)
"""The largest count of each group but the last."""
COUNT_NAMES = {0: "never", 1: "1–9", 2: "10–99", 3: "100–999", 4: "1,000–9,999", 5: "10,000 or more"}


def count_tokens(tokens: StoredColumn, vocabulary_size: int) -> Int[np.ndarray, " vocab"]:
    """Return the number of occurrences of each id in a column."""
    counts = np.zeros(vocabulary_size, np.int64)
    for start in range(0, tokens.num_steps, CHUNK):
        counts += np.bincount(tokens.window(start, start + CHUNK), minlength=vocabulary_size)
    return counts
