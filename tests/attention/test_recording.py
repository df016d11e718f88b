"""Alignments on request: those that made the output, of every attention inside, and nothing when nobody
asks.
"""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.attention.masks import AttentionMask
from seqlab.attention.multi_head import MultiHeadCrossAttention, MultiHeadSelfAttention
from seqlab.attention.recording import record_alignments
from seqlab.core.errors import UsageError
from seqlab.models.settings.transformer import TransformerSettings
from tests.models.settings_to_try import build, ragged


def test_every_attention_is_recorded_under_its_name_once_for_each_call() -> None:
    backbone = build(TransformerSettings(hidden_size=6, heads=3, kv_heads=1, layers=2), causal=True)
    steps, is_token = ragged([5, 5], 6)
    with record_alignments(backbone) as alignments:
        _, state = backbone(steps[:, :4], is_token[:, :4])
        backbone(steps[:, 4:], is_token[:, 4:], state)
    assert {name: [tuple(one.shape) for one in found] for name, found in alignments.items()} == {
        "layers.0.attention": [(2, 3, 4, 4), (2, 3, 1, 5)],
        "layers.1.attention": [(2, 3, 4, 4), (2, 3, 1, 5)],
    }
    with record_alignments(backbone) as whole:
        backbone(steps, is_token)
    for name, (before, after) in alignments.items():
        torch.testing.assert_close(whole[name][0][:, :, :4, :4], before, rtol=0, atol=1e-12)
        torch.testing.assert_close(whole[name][0][:, :, 4:], after, rtol=0, atol=1e-12)


@pytest.mark.parametrize("window", [0, 2])
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi", "relative"])
@pytest.mark.parametrize("causal", [True, False])
def test_rows_add_up_to_one_over_what_may_be_seen(positions: str, causal: bool, window: int) -> None:
    settings = {"hidden_size": 8, "heads": 2, "layers": 1, "positions": positions, "window": window}
    backbone = build(TransformerSettings.model_validate(settings), causal=causal)
    steps, is_token = ragged([6, 3], 8)
    with record_alignments(backbone) as alignments:
        backbone(steps, is_token)
    (found,) = alignments["layers.0.attention"]
    for row, length in enumerate([6, 3]):
        for t in range(length):
            seen = [
                key < length and (not causal or key <= t) and (not window or abs(key - t) < window)
                for key in range(6)
            ]
            assert (found[row, :, t] > 0).tolist() == [seen] * 2
            assert found[row, :, t].sum(dim=-1).tolist() == pytest.approx([1.0, 1.0], abs=1e-12)


def test_who_sees_nothing_has_a_row_of_zeros_and_no_gradient() -> None:
    attention = MultiHeadSelfAttention(6, num_heads=2).double()
    steps = torch.randn(2, 4, 6, dtype=torch.float64, requires_grad=True)
    mask = torch.ones(2, 1, 4, 4, dtype=torch.bool)
    mask[0] = False
    mask[1, :, 2] = False
    with record_alignments(attention) as alignments:
        attention(steps, mask=AttentionMask(mask))
    (found,) = alignments[""]
    assert found.sum(dim=-1).round(decimals=12).tolist() == [[[0] * 4] * 2, [[1, 1, 0, 1]] * 2]
    (gradient,) = torch.autograd.grad(found.square().sum(), steps)
    assert torch.isfinite(gradient).all()
    assert not gradient[0].any()
    assert gradient[1].any()


def test_the_recorded_alignment_makes_the_output() -> None:
    torch.manual_seed(1)
    attention = MultiHeadCrossAttention(6, num_heads=4, head_size=3, num_kv_heads=2, key_size=5).double()
    steps, source = torch.randn(2, 3, 6, dtype=torch.float64), torch.randn(2, 7, 5, dtype=torch.float64)
    values = torch.randn(2, 7, 6, dtype=torch.float64)
    read = attention.project_source(source, values)
    mask = torch.randn(2, 4, 3, 7, dtype=torch.float64).masked_fill(torch.rand(2, 4, 3, 7) < 0.3, -math.inf)
    with record_alignments(attention) as alignments:
        outputs = attention(steps, read, mask=AttentionMask(mask))
    mixed = alignments[""][0] @ read.values.repeat_interleave(2, dim=1)  # (batch, heads, target, head)
    torch.testing.assert_close(
        attention.output(mixed.transpose(1, 2).flatten(2)), outputs, rtol=0, atol=1e-12
    )


def test_nothing_is_computed_when_nobody_asks_or_asks_any_more() -> None:
    attention = MultiHeadSelfAttention(6, num_heads=2)
    with record_alignments(attention) as alignments:
        pass
    attention(torch.randn(1, 3, 6))
    assert alignments == {"": []}
    assert attention.alignment_hook is None


def test_an_inner_recording_gives_back_to_the_outer() -> None:
    attention = MultiHeadSelfAttention(6, num_heads=2)
    with record_alignments(attention) as outer:
        with record_alignments(attention) as inner:
            attention(torch.randn(1, 3, 6))
        attention(torch.randn(1, 5, 6))
    assert [tuple(one.shape) for one in inner[""]] == [(1, 2, 3, 3)]
    assert [tuple(one.shape) for one in outer[""]] == [(1, 2, 5, 5)]
    assert attention.alignment_hook is None


def test_a_recording_ends_with_an_error_too() -> None:
    attention = MultiHeadSelfAttention(6, num_heads=2)
    with pytest.raises(UsageError), record_alignments(attention):
        attention(torch.randn(1, 3, 6), mask=AttentionMask(torch.ones(3, 3, dtype=torch.bool)))
    assert attention.alignment_hook is None


def test_an_output_is_the_same_whether_it_is_watched_or_not() -> None:
    backbone = build(TransformerSettings(hidden_size=6, heads=2, layers=2), causal=True)
    steps, is_token = ragged([5, 2], 6)
    expected, _ = backbone(steps, is_token)
    with record_alignments(backbone):
        found, _ = backbone(steps, is_token)
    assert torch.equal(found, expected)
