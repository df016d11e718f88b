"""The k best in two stages against a full sort."""

from __future__ import annotations

import pytest
import torch

from seqlab.decoding.top_candidates import top_candidates


@pytest.mark.parametrize(
    ("vocab", "k"), [(5, 3), (5, 9), (1000, 1), (1300, 5), (64 * 40, 10), (64 * 40 + 1, 2)]
)
def test_they_are_those_of_a_full_sort(vocab: int, k: int) -> None:
    rows = torch.randn(7, vocab, generator=torch.Generator().manual_seed(vocab))
    rows[3, -1] = 9.0  # in the block that is not whole
    rows[4] = -torch.inf
    rows[4, 2] = 1.0
    found = top_candidates(rows, k)
    expected = rows.sort(dim=1, descending=True).values[:, :k]
    assert torch.equal(found.log_probs, expected)
    assert torch.equal(rows.gather(1, found.tokens), expected)
    assert all(len(set(row)) == min(k, vocab) for row in found.tokens.tolist())


@pytest.mark.parametrize("vocab", [6, 700])
def test_of_equals_the_first_is_the_best(vocab: int) -> None:
    rows = torch.zeros(2, vocab)
    rows[1, 4:] = 1.0
    assert top_candidates(rows, 1).tokens.tolist() == [[0], [4]]
