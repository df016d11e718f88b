"""Turned queries and keys, against the equations and against published code."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from seqlab.core.errors import ArgumentError
from seqlab.positions.rotary import RotaryPositions


def heads(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def test_a_pair_is_a_point_that_is_turned() -> None:
    size, base, place = 6, 100.0, 7
    head = heads(1, 1, 1, size)
    turned = RotaryPositions(size, base=base).apply_rotary(head, torch.tensor([[place]]))[0, 0, 0].tolist()
    plain = head[0, 0, 0].tolist()
    for pair in range(size // 2):
        angle = place / base ** (2 * pair / size)
        a, b = plain[pair], plain[pair + size // 2]
        assert turned[pair] == pytest.approx(a * math.cos(angle) - b * math.sin(angle), abs=1e-12)
        assert turned[pair + size // 2] == pytest.approx(b * math.cos(angle) + a * math.sin(angle), abs=1e-12)


@pytest.mark.parametrize("base", [10000.0, 500.0])
def test_it_turns_as_llama_does(base: float) -> None:
    config = LlamaConfig(
        hidden_size=24,
        num_attention_heads=3,
        head_dim=8,
        rope_parameters={"rope_type": "default", "rope_theta": base},
    )
    q, k = heads(2, 3, 11, 8).float(), heads(2, 1, 11, 8).float()
    places = torch.tensor([[*range(11)], [*range(40, 51)]])
    expected = apply_rotary_pos_emb(q, k, *LlamaRotaryEmbedding(config)(q, places))
    positions = RotaryPositions(8, base=base)
    torch.testing.assert_close(
        (positions.apply_rotary(q, places), positions.apply_rotary(k, places)), expected, rtol=0, atol=2e-5
    )


def test_places_past_the_first_table_are_turned_too() -> None:
    positions, head = RotaryPositions(2), heads(1, 1, 2, 2)
    a, b = head[0, 0, 1].tolist()
    turned = positions.apply_rotary(head, torch.tensor([[0, 5000]]))
    assert torch.equal(turned[0, 0, 0], head[0, 0, 0])
    expected = [a * math.cos(5000) - b * math.sin(5000), b * math.cos(5000) + a * math.sin(5000)]
    assert turned[0, 0, 1].tolist() == pytest.approx(expected, abs=1e-12)


def test_lengths_stay_and_gradients_are_right() -> None:
    positions, head = RotaryPositions(4), heads(2, 2, 3, 4).requires_grad_()
    places = torch.tensor([[0, 1, 2], [7, 9, 8]])
    torch.testing.assert_close(
        positions.apply_rotary(head, places).norm(dim=-1), head.norm(dim=-1), rtol=0, atol=1e-12
    )
    assert torch.autograd.gradcheck(lambda x: positions.apply_rotary(x, places), head)
    assert torch.autograd.gradgradcheck(lambda x: positions.apply_rotary(x, places), head)


def test_what_was_first_needed_while_predicting_still_trains() -> None:
    positions, head, places = RotaryPositions(4), heads(1, 1, 3, 4), torch.arange(3)[None]
    with torch.inference_mode():
        positions.apply_rotary(head, places)
    positions.apply_rotary(head.requires_grad_(), places).sum().backward()
    assert head.grad is not None


def test_heads_of_an_odd_size_are_refused() -> None:
    with pytest.raises(ArgumentError) as caught:
        RotaryPositions(5)
    error = caught.value
    assert (error.argument, error.value, error.allowed) == ("head_size", 5, "even numbers")
    assert "head_size=6" in error.cure
