"""How steps enter a network."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from seqlab.blocks.embedding import InputProjection, TokenEmbedding


@pytest.mark.spec(29)
def test_looking_up_a_row_equals_multiplying_with_a_one_hot_vector() -> None:
    embedding = TokenEmbedding(7, 3, pad_id=None)
    tokens = torch.tensor([[0, 6, 2], [5, 5, 1]])
    assert torch.equal(embedding(tokens), F.one_hot(tokens, 7).float() @ embedding.weight)


@pytest.mark.spec(30)
@pytest.mark.parametrize("pad_id", [0, 1])
def test_the_row_of_padding_is_zero_and_stays_so_in_training(pad_id: int) -> None:
    torch.manual_seed(3)
    embedding = TokenEmbedding(5, 3, pad_id=pad_id)
    before = embedding.weight.detach().clone()
    optimizer = torch.optim.AdamW(embedding.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        (embedding(torch.tensor([[0, 1, 2, 3, 4]])) - 1).square().sum().backward()
        optimizer.step()
    assert embedding.weight[pad_id].tolist() == [0, 0, 0]
    others = torch.arange(5) != pad_id
    assert (embedding.weight[others] != before[others]).all()


def test_without_padding_every_row_is_trained() -> None:
    embedding = TokenEmbedding(4, 3, pad_id=None)
    embedding(torch.tensor([[0, 1, 2, 3]])).sum().backward()
    assert embedding.weight.grad is not None
    assert (embedding.weight.grad == 1).all()


def test_rows_start_with_the_asked_deviation() -> None:
    torch.manual_seed(1)
    assert TokenEmbedding(500, 40, pad_id=3, std=0.25).weight.std().item() == pytest.approx(0.25, rel=0.02)


def test_a_step_of_numbers_is_mapped_at_each_step_alone() -> None:
    projection = InputProjection(3, 2).double()
    inputs = torch.randn(2, 5, 3, dtype=torch.float64)
    weight, bias = projection.weight.tolist(), projection.bias.tolist()
    for row in range(2):
        for t in range(5):
            expected = [
                sum(w * x for w, x in zip(line, inputs[row, t].tolist(), strict=True)) + b
                for line, b in zip(weight, bias, strict=True)
            ]
            assert projection(inputs)[row, t].tolist() == pytest.approx(expected, abs=1e-12)
