"""Multi-head attention as a lecture writes it: the same module is a choice of options here."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from seqlab.attention.attend import Attention
from seqlab.attention.masks import AttentionMask
from seqlab.attention.multi_head import MultiHeadCrossAttention, MultiHeadSelfAttention
from seqlab.attention.recording import record_alignments
from seqlab.attention.scaled_dot import ScaledDotScore
from seqlab.core.errors import ArgumentError
from seqlab.positions.sinusoidal import SinusoidalPositions
from tests.attention.scores_to_try import numbers, randomised


class Printed(nn.Module):
    """q, k, v without bias, from inputs of different sizes; Q divided before the product; dropout on the
    weights; output with bias.
    """

    def __init__(self, d_model: int, num_heads: int, *, p: float, d_input: tuple[int, int, int]) -> None:
        super().__init__()
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(size, d_model, bias=False) for size in d_input)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(p)

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self.split(self.w_q(q)), self.split(self.w_k(k)), self.split(self.w_v(v))
        weights = self.dropout(((q / math.sqrt(self.d_k)) @ k.transpose(2, 3)).softmax(dim=-1))
        return self.w_o((weights @ v).transpose(1, 2).flatten(2)), weights

    def split(self, joined: Tensor) -> Tensor:
        return joined.view(*joined.shape[:2], self.num_heads, self.d_k).transpose(1, 2)


def printed_and_ours(*, p: float = 0.0) -> tuple[Printed, MultiHeadCrossAttention]:
    torch.manual_seed(8)
    printed = Printed(6, 3, p=p, d_input=(6, 5, 7))
    randomised(printed)
    ours = MultiHeadCrossAttention(
        6, num_heads=3, key_size=5, value_size=7, qkv_bias=False, output_bias=True, dropout=p
    ).double()
    names = {
        "query.weight": printed.w_q,
        "key.weight": printed.w_k,
        "value.weight": printed.w_v,
        "output.weight": printed.w_o,
    }
    ours.load_state_dict(
        {
            **{name: layer.weight.detach() for name, layer in names.items()},
            "output.bias": printed.w_o.bias.detach(),
        }
    )
    return printed, ours


@pytest.mark.spec(135, 142)
def test_cross_attention_with_inputs_of_different_sizes_equals_the_printed_module_and_returns_its_weights() -> (
    None
):
    printed, ours = printed_and_ours()
    q, k, v = numbers(2, 4, 6), numbers(2, 5, 5, seed=2), numbers(2, 5, 7, seed=3)
    expected, weights = printed(q, k, v)
    with record_alignments(ours) as alignments:
        found = ours(q, ours.project_source(k, v))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(alignments[""][0], weights, rtol=0, atol=1e-12)


@pytest.mark.spec(135, 142)
def test_self_attention_equals_the_printed_module_on_one_input() -> None:
    torch.manual_seed(8)
    printed = Printed(6, 2, p=0.0, d_input=(6, 6, 6))
    randomised(printed)
    ours = MultiHeadSelfAttention(6, num_heads=2, qkv_bias=False).double()
    qkv = torch.cat([printed.w_q.weight, printed.w_k.weight, printed.w_v.weight]).detach()
    ours.load_state_dict(
        {
            "qkv.weight": qkv,
            "output.weight": printed.w_o.weight.detach(),
            "output.bias": printed.w_o.bias.detach(),
        }
    )
    steps = numbers(2, 5, 6)
    expected, weights = printed(steps, steps, steps)
    with record_alignments(ours) as alignments:
        found, _ = ours(steps)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(alignments[""][0], weights, rtol=0, atol=1e-12)


@pytest.mark.spec(142)
def test_dropout_falls_on_the_weights() -> None:
    """With one-hot values and no output projection the output is the weights: each is 0 or grown by 1 / (1 -
    p), and about p are 0.
    """
    size, p = 32, 0.25
    ours = MultiHeadCrossAttention(
        size, num_heads=1, key_size=3, qkv_bias=False, output_bias=False, dropout=p
    ).double()
    with torch.no_grad():
        ours.value.weight.copy_(torch.eye(size))
        ours.output.weight.copy_(torch.eye(size))
    queries, keys, values = (
        numbers(6, 32, size),
        numbers(6, size, 3, seed=2),
        torch.eye(size, dtype=torch.float64).expand(6, -1, -1),
    )
    source = ours.project_source(keys, values)
    with record_alignments(ours) as alignments:
        whole = ours.eval()(queries, source)
    weights = alignments[""][0][:, 0]
    torch.testing.assert_close(whole, weights, rtol=0, atol=1e-12)
    torch.manual_seed(2)
    dropped = ours.train()(queries, source)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], weights[kept] / (1 - p), rtol=0, atol=1e-12)
    assert (~kept).double().mean().item() == pytest.approx(p, abs=0.03)


@pytest.mark.spec(142)
def test_a_width_that_the_heads_cannot_share_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"^num_heads=2: hidden_size 7 .*\n  Allowed: 1\."):
        MultiHeadCrossAttention(7, num_heads=2)


@pytest.mark.spec(145)
def test_order_means_nothing_to_self_attention_until_positions_are_added() -> None:
    torch.manual_seed(8)
    attention = MultiHeadSelfAttention(6, num_heads=2)
    randomised(attention)
    steps, order = numbers(2, 5, 6), torch.tensor([3, 0, 4, 2, 1])
    places = torch.arange(5).unsqueeze(0)
    torch.testing.assert_close(
        attention(steps[:, order])[0], attention(steps)[0][:, order], rtol=0, atol=1e-12
    )

    def with_positions(inputs: Tensor) -> Tensor:
        outputs: Tensor = attention(SinusoidalPositions(6).add(inputs, places))[0]
        return outputs

    assert not torch.allclose(with_positions(steps[:, order]), with_positions(steps)[:, order], atol=1e-2)


@pytest.mark.spec(146)
def test_positions_enter_keys_values_and_queries() -> None:
    """Σ_i softmax_i(Q(x_t + p(t)) · K(x_i + p(i)) / √d) V(x_i + p(i)): the query has the place t of its own
    step, not that of the key.
    """
    torch.manual_seed(8)
    to_query, to_key, to_value = (nn.Linear(4, size, bias=False).double() for size in (3, 3, 5))
    positions, steps = SinusoidalPositions(4), numbers(1, 6, 4)
    placed = positions.add(steps, torch.arange(6).unsqueeze(0))
    attention = Attention(ScaledDotScore(3, 3), key=to_key, value=to_value)
    found, _ = attention(to_query(placed), placed)

    def at(place: int) -> Tensor:
        angles = [place / 10000 ** (2 * j / 4) for j in range(2)]
        return steps[0, place] + torch.tensor(
            [f(angle) for angle in angles for f in (math.sin, math.cos)], dtype=torch.float64
        )

    for t in range(6):
        powers = [math.exp((to_query(at(t)) @ to_key(at(i))).item() / math.sqrt(3)) for i in range(6)]
        expected = sum(power / sum(powers) * to_value(at(i)) for i, power in enumerate(powers))
        torch.testing.assert_close(found[0, t], expected, rtol=0, atol=1e-6)


@pytest.mark.spec(135)
def test_one_head_is_attention_with_a_scaled_product() -> None:
    """The two ways to attend in this room give the same numbers where both can be used."""
    torch.manual_seed(8)
    heads = MultiHeadCrossAttention(
        6, num_heads=1, key_size=5, value_size=5, qkv_bias=False, output_bias=False
    )
    randomised(heads)
    single = Attention(ScaledDotScore(6, 6), key=heads.key, value=heads.value)
    steps, source = numbers(2, 4, 6), numbers(2, 7, 5, seed=2)
    may_attend = numbers(2, 4, 7, seed=3) > -0.5
    may_attend[1, 2] = False
    found = heads(steps, heads.project_source(source), mask=AttentionMask(may_attend.unsqueeze(1)))
    expected, _ = single(heads.query(steps), source, may_attend=may_attend)
    torch.testing.assert_close(found, heads.output(expected), rtol=0, atol=1e-12)
