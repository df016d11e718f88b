"""A learned number for every distance, against T5."""

from __future__ import annotations

import pytest
import torch
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from seqlab.positions.relative import RelativePositions, relative_position_buckets


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("num_buckets", "max_distance"), [(32, 128), (8, 20), (16, 64), (32, 256), (6, 9)])
def test_offsets_fall_into_the_buckets_of_t5(num_buckets: int, max_distance: int, causal: bool) -> None:
    offsets = torch.arange(-max_distance, max_distance + 1)
    theirs = T5Attention._relative_position_bucket(
        offsets, bidirectional=not causal, num_buckets=num_buckets, max_distance=max_distance
    )
    assert (
        relative_position_buckets(causal=causal, num_buckets=num_buckets, max_distance=max_distance)
        == theirs.tolist()
    )


@pytest.mark.parametrize("causal", [True, False])
def test_the_bias_is_that_of_t5_with_the_same_table(causal: bool) -> None:
    config = T5Config(
        num_heads=3,
        d_model=12,
        d_kv=4,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=20,
        is_decoder=causal,
    )
    twin = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    positions = RelativePositions(3, causal=causal, num_buckets=8, max_distance=20)
    with torch.no_grad():
        positions.table.copy_(twin.relative_attention_bias.weight)
    places = torch.arange(70)[None]
    assert torch.equal(positions.bias(places, places), twin.compute_bias(70, 70))
    assert torch.equal(positions.bias(places[:, 60:], places), twin.compute_bias(70, 70)[:, :, 60:])


def test_near_steps_have_numbers_of_their_own_and_far_steps_share_one() -> None:
    positions = RelativePositions(2, causal=True)
    bias = positions.bias(torch.tensor([[500]]), torch.arange(501)[None])[0, :, 0].flip(
        -1
    )  # (heads, distance)
    assert torch.equal(bias[:, :16], positions.table[:16].T)
    assert torch.equal(bias[:, 128:], positions.table[31, :, None].expand(2, 373))
    assert len(bias[0].unique()) == 32


def test_the_table_learns() -> None:
    positions = RelativePositions(2, causal=False, num_buckets=4, max_distance=3).double()
    places = torch.arange(3)[None]
    positions.bias(places, places).sum().backward()
    assert positions.table.grad is not None
    assert positions.table.grad[:, 0].tolist() == [
        3,
        3,
        0,
        3,
    ]  # own place 3 times, before 2 + 1, behind 2 + 1
