from __future__ import annotations

import numpy as np
import pytest

from seqlab.core.errors import UsageError
from seqlab.tokens.one_hot import one_hot


@pytest.mark.spec(29)
def test_a_one_hot_vector_times_a_matrix_is_the_row_of_that_id() -> None:
    table = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    for word in range(7):
        assert (one_hot(word, 7) @ table).tolist() == table[word].tolist()
    ids = np.array([[4, 0, 6, 4, 1], [2, 2, 5, 3, 0]])  # (batch, time)
    np.testing.assert_array_equal(one_hot(ids, 7) @ table, table[ids])


def test_a_one_hot_vector_has_a_single_one_in_its_place() -> None:
    assert one_hot([1, 0], 3).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert one_hot([], 3).shape == (0, 3)


@pytest.mark.parametrize("wrong", [3, -1])
def test_an_id_outside_is_refused(wrong: int) -> None:
    with pytest.raises(UsageError, match="need ids from 0 to 2"):
        one_hot([0, wrong], 3)
