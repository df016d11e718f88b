"""Ids as vectors with a single 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqlab.core.errors import UsageError


def one_hot(ids: ArrayLike, num_ids: int) -> NDArray[np.float32]:
    """one_hot(i)[j] = 1 if j == i else 0, for one id or any array of ids: the last axis is new and `num_ids`
    long.

    Times a matrix E, it is row i of E. An embedding layer therefore looks the row up instead of multiplying.

    >>> one_hot(2, 4).tolist()
    [0.0, 0.0, 1.0, 0.0]
    """
    places = np.asarray(ids)
    if places.size and not (places.min() >= 0 and places.max() < num_ids):
        raise UsageError(
            f"the ids range from {places.min()} to {places.max()}; one-hot vectors of length {num_ids}"
            f" need ids from 0 to {num_ids - 1}."
        )
    vectors = np.zeros((*places.shape, num_ids), dtype=np.float32)
    np.put_along_axis(vectors, places[..., np.newaxis].astype(np.int64), 1.0, axis=-1)
    return vectors
