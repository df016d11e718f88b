"""Scores that fall with distance, against the numbers of the paper and against published code."""

from __future__ import annotations

import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from seqlab.positions.alibi import AlibiPositions, alibi_slopes


def test_eight_heads_halve_their_slopes_one_by_one() -> None:
    assert alibi_slopes(8) == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert alibi_slopes(16)[:4] == pytest.approx([2**-0.5, 2**-1, 2**-1.5, 2**-2])
    assert alibi_slopes(1) == [1 / 256]


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 7, 8, 12, 16, 20, 31])
def test_every_number_of_heads_has_the_slopes_of_published_code(heads: int) -> None:
    """Bloom adds slope · place of the key, which a softmax cannot tell from -slope · distance in a causal
    network.
    """
    theirs = build_alibi_tensor(torch.ones(1, 9), heads, torch.float32).view(heads, 9)
    assert alibi_slopes(heads) == pytest.approx(theirs[:, 1].tolist(), rel=1e-6)
    bias = AlibiPositions(heads).bias(torch.tensor([[8]]), torch.arange(9)[None])[0, :, 0]  # (heads, source)
    torch.testing.assert_close(bias.softmax(dim=-1), theirs.softmax(dim=-1), rtol=0, atol=1e-6)


def test_the_bias_is_the_distance_times_the_slope_on_both_sides() -> None:
    bias = (
        AlibiPositions(2).double().bias(torch.tensor([[3, 4], [0, 1]]), torch.tensor([[2, 3, 7], [0, 1, 1]]))
    )
    assert bias.dtype == torch.float64
    assert (-16 * bias[0, 0]).tolist() == [[1, 0, 4], [2, 1, 3]]
    assert (-256 * bias[1, 1]).tolist() == [[0, 1, 1], [1, 0, 0]]


def test_it_has_nothing_to_learn_and_nothing_to_keep() -> None:
    assert list(AlibiPositions(3).parameters()) == []
    assert AlibiPositions(3).state_dict() == {}
