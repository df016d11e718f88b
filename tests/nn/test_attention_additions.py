"""What MultiheadAttention has beyond torch: grouped heads, heads of any width, positions; and what it
refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from seqlab import nn
from seqlab.attention.heads import compute_alignment
from seqlab.attention.masks import AttentionMask
from seqlab.core.errors import UsageError
from seqlab.positions.rotary import RotaryPositions
from seqlab.positions.sinusoidal import SinusoidalPositions

WRONG: Any = 3


def by_hand(attention: nn.MultiheadAttention, steps: Tensor) -> Tensor:
    """softmax(q kᵀ / √d) v, head by head and number by number, for one sequence (time, embed)."""
    size, groups = attention.head_dim, attention.num_heads // attention.num_kv_heads
    joined = (steps @ attention.in_proj_weight.T + attention.in_proj_bias).tolist()
    widths = [attention.num_heads * size, attention.num_kv_heads * size]
    heads = []
    for head in range(attention.num_heads):
        kv = head // groups
        q = [row[head * size : (head + 1) * size] for row in joined]
        k = [row[widths[0] + kv * size : widths[0] + (kv + 1) * size] for row in joined]
        v = [row[sum(widths) + kv * size : sum(widths) + (kv + 1) * size] for row in joined]
        rows = []
        for query in q:
            scores = [
                math.exp(sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(size)) for key in k
            ]
            rows.append(
                [
                    sum(score * value[i] for score, value in zip(scores, v, strict=True)) / sum(scores)
                    for i in range(size)
                ]
            )
        heads.append(torch.tensor(rows, dtype=steps.dtype))
    return attention.out_proj(torch.cat(heads, dim=-1))


@pytest.mark.parametrize(("heads", "kv_heads", "head_dim"), [(4, 2, None), (4, 1, 5), (3, 3, 2), (6, 2, 7)])
def test_grouped_heads_and_heads_of_any_width_follow_the_equation(
    heads: int, kv_heads: int, head_dim: int | None
) -> None:
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(
        8, heads, num_kv_heads=kv_heads, head_dim=head_dim, batch_first=True, dtype=torch.float64
    )
    torch.nn.init.normal_(attention.in_proj_bias)
    steps = torch.randn(1, 5, 8, dtype=torch.float64)
    for need_weights in (False, True):
        assert_close(
            attention(steps, steps, steps, need_weights=need_weights)[0][0], by_hand(attention, steps[0])
        )


def test_as_many_kv_heads_as_heads_is_torchs_attention() -> None:
    ours = nn.MultiheadAttention(8, 4, num_kv_heads=4, head_dim=2)
    torch.nn.MultiheadAttention(8, 4).load_state_dict(ours.state_dict())


def test_other_widths_of_keys_go_together_with_grouped_heads() -> None:
    grouped = nn.MultiheadAttention(8, 4, num_kv_heads=2, kdim=5, vdim=3, add_bias_kv=True)
    full = torch.nn.MultiheadAttention(8, 4, kdim=5, vdim=3, add_bias_kv=True)
    state = grouped.state_dict()
    twice = torch.tensor([0, 1, 0, 1, 2, 3, 2, 3])  # every head of keys serves two of queries
    state |= {name: state[name][twice] for name in ("k_proj_weight", "v_proj_weight")}
    state |= {name: state[name][..., twice] for name in ("bias_k", "bias_v")}
    q, k, v = state["in_proj_bias"].split([8, 4, 4])
    state["in_proj_bias"] = torch.cat([q, k[twice], v[twice]])
    full.load_state_dict(state)
    given = torch.randn(5, 2, 8), torch.randn(7, 2, 5), torch.randn(7, 2, 3)
    assert_close(grouped(*given), full(*given), rtol=0, atol=1e-6)
    torch.manual_seed(3)
    dropped = grouped.train()
    dropped.dropout = 0.5
    assert dropped(*given)[1].eq(0).any()


@pytest.mark.parametrize("positions", ["rotary", "alibi", "relative"])
def test_positions_make_attention_see_order(positions: str) -> None:
    torch.manual_seed(1)
    attention = nn.MultiheadAttention(8, 2, batch_first=True, positions=positions)
    plain = nn.MultiheadAttention(8, 2, batch_first=True)
    plain.load_state_dict(attention.state_dict(), strict=False)
    steps = torch.randn(3, 5, 8)
    other = steps[:, [1, 0, 2, 4, 3]]
    assert_close(plain(other, other, other)[0][:, 2], plain(steps, steps, steps)[0][:, 2])
    assert not torch.allclose(
        attention(other, other, other)[0][:, 2], attention(steps, steps, steps)[0][:, 2], atol=1e-4
    )


@pytest.mark.parametrize("positions", ["rotary", "alibi", "relative"])
def test_positions_inside_only_know_distances(positions: str) -> None:
    """The same steps behind three that are masked: nothing has changed for them."""
    torch.manual_seed(2)
    attention = nn.MultiheadAttention(8, 2, batch_first=True, positions=positions, dtype=torch.float64)
    steps = torch.randn(2, 5, 8, dtype=torch.float64)
    longer = torch.cat([torch.randn(2, 3, 8, dtype=torch.float64), steps], dim=1)
    padding = (torch.arange(8) < 3).expand(2, 8)
    expected, found = attention(steps, steps, steps), attention(longer, longer, longer, padding)
    assert_close(found[0][:, 3:], expected[0])
    assert_close(found[1][:, 3:, 3:], expected[1])


def test_alibi_is_a_float_mask_of_distances() -> None:
    attention, plain = nn.MultiheadAttention(8, 2, positions="alibi"), torch.nn.MultiheadAttention(8, 2)
    plain.load_state_dict(attention.state_dict())
    steps = torch.randn(5, 3, 8)
    distance = (torch.arange(5)[:, None] - torch.arange(5)).abs().float()
    mask = torch.stack(
        [-distance / 16, -distance / 256] * 3
    )  # slopes 2^-4 and 2^-8, for each of three sequences
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    assert_close(
        attention(steps, steps, steps), plain(steps, steps, steps, attn_mask=mask), rtol=0, atol=1e-6
    )
    causal = mask.masked_fill(later, -torch.inf)
    assert_close(
        attention(steps, steps, steps, is_causal=True),
        plain(steps, steps, steps, attn_mask=causal),
        rtol=0,
        atol=1e-6,
    )


def test_positions_may_be_built_by_the_user() -> None:
    torch.manual_seed(3)
    steps = torch.randn(5, 3, 8)
    near, far = (
        nn.MultiheadAttention(8, 2, positions=RotaryPositions(4, base=base)) for base in (10000.0, 2.0)
    )
    same = nn.MultiheadAttention(8, 2, positions="rotary")
    for attention in (far, same):
        attention.load_state_dict(near.state_dict())
    assert torch.equal(same(steps, steps, steps)[0], near(steps, steps, steps)[0])
    assert not torch.allclose(far(steps, steps, steps)[0], near(steps, steps, steps)[0], atol=1e-5)


def test_a_causal_sight_that_is_not_square_keeps_the_first_steps_together() -> None:
    """As in torch: query i sees the keys 0 … i."""
    attention = nn.MultiheadAttention(6, 2, batch_first=True)
    query, key = torch.randn(1, 3, 6), torch.randn(1, 5, 6)
    assert attention(query, key, key, is_causal=True)[1][0].gt(0).int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
    ]


def test_alignments_pass_gradcheck_with_rows_that_see_nothing() -> None:
    torch.manual_seed(4)
    q, k = (
        torch.randn(2, 4, 3, 2, dtype=torch.float64, requires_grad=True),
        torch.randn(2, 2, 5, 2, dtype=torch.float64, requires_grad=True),
    )
    mask = torch.rand(2, 1, 3, 5) > 0.4
    mask[1, :, 1] = False
    assert torch.autograd.gradcheck(lambda q, k: compute_alignment(q, k, AttentionMask(mask)), (q, k))


def attend(
    *shapes: tuple[int, ...], options: dict[str, Any] | None = None, **masks: Any
) -> Callable[[], Any]:
    return lambda: nn.MultiheadAttention(6, 3, **(options or {}))(*map(torch.zeros, shapes), **masks)


GOOD = [(5, 4, 6), (7, 4, 6), (7, 4, 6)]


@pytest.mark.spec(142)
@pytest.mark.parametrize(
    ("build", "facts"),
    [
        (lambda: nn.MultiheadAttention(10, 3), "MultiheadAttention: embed_dim | num_heads | 10 is not divisible by 3 | 1, 2, 5"),
        (lambda: nn.MultiheadAttention(0, 3), "embed_dim is 0. | at least 1"),
        (lambda: nn.MultiheadAttention(6, 0), "num_heads is 0."),
        (lambda: nn.MultiheadAttention(6, 2, num_kv_heads=0), "num_kv_heads is 0."),
        (lambda: nn.MultiheadAttention(6, 2, head_dim=-1), "head_dim is -1."),
        (lambda: nn.MultiheadAttention(12, 6, num_kv_heads=4), "6 heads | 4 key-value heads | num_kv_heads: 1, 2, 3, 6"),
        (lambda: nn.MultiheadAttention(6, 2, positions="rotari"), "'rotari' | Did you mean 'rotary'?"),
        (lambda: nn.MultiheadAttention(6, 2, positions="sinusoidal"), "positions 'sinusoidal' | alibi, relative, rotary"),
        (lambda: nn.MultiheadAttention(6, 2, positions=SinusoidalPositions(6)), "positions 'SinusoidalPositions' | alibi, relative, rotary"),
        (lambda: nn.MultiheadAttention(6, 2, positions="rotary"), "rotary | 3 is odd | head_dim"),
        (lambda: nn.MultiheadAttention(6, 2, positions=WRONG), "positions= | not int."),
        (attend((2, 5, 4, 6), *GOOD[1:]), "query has 4 axes. | three | two"),
        (attend((5, 6), *GOOD[1:]), "query has 2 axes | key has 3 | batch"),
        (attend((5, 4, 5), *GOOD[1:]), "query has 5 features | expects 6."),
        (attend(GOOD[0], (7, 4, 8), GOOD[2]), "key has 8 features | expects 6. | kdim= | embed_dim"),
        (attend(*GOOD[:2], (7, 4, 6), options={"vdim": 3}), "value has 6 features | expects 3."),
        (attend(*GOOD[:2], (8, 4, 6)), "4 sequences with 7 steps of keys | 4 sequences with 8 steps of values"),
        (attend(*GOOD, options={"batch_first": True}), "5 sequences of queries | 7 sequences of keys | batch_first=True | (batch, time, features)"),
        (attend(*GOOD, key_padding_mask=torch.zeros(7, 4).bool()), "key_padding_mask has shape (7, 4) | 4 sequences with 7 keys need (4, 7)"),
        (attend(*GOOD, key_padding_mask=torch.zeros(4, 7).long()), "key_padding_mask has dtype int64. | bool"),
        (attend(*GOOD, attn_mask=torch.zeros(7, 5).bool()), "attn_mask has shape (7, 5) | 5 queries and 7 keys need (5, 7)"),
        (attend(*GOOD, attn_mask=torch.zeros(7, 5)), "(12, 5, 7) | 4 sequences | 3 heads"),
        (attend(*GOOD, attn_mask=torch.zeros(4, 5, 7)), "attn_mask has shape (4, 5, 7)"),
        (attend(*GOOD, attn_mask=torch.zeros(5, 7).int()), "attn_mask has dtype int32."),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_a_cure(build: Callable[[], Any], facts: str) -> None:
    with pytest.raises(UsageError) as caught:
        build()
    assert [fact for fact in facts.split(" | ") if fact not in str(caught.value)] == []
