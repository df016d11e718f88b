"""Learned queries, alone and as the pool of a classifier."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from seqlab.attention.additive import AdditiveScore
from seqlab.attention.attend import Attention
from seqlab.attention.learned_queries import LearnedQueries
from seqlab.attention.recording import record_alignments
from seqlab.blocks.pooling import AttentionPool
from seqlab.models.classifier import build_classifier
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings
from tests.attention.scores_to_try import numbers, randomised

SMALL = [
    RecurrentSettings(hidden_size=6, pooling="queries", queries=3, bidirectional=True, dropout=0.0),
    RecurrentSettings(hidden_size=6, pooling="queries", queries=3, head_size=7, dropout=0.0),
    ConvolutionalSettings(hidden_size=6, layers=2, pooling="queries", queries=3, dropout=0.0),
    TransformerSettings(hidden_size=6, heads=2, pooling="queries", queries=3, dropout=0.0),
]
TOKENS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0], [7, 0, 0, 0, 0]])
IS_TOKEN = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]).bool()


@pytest.mark.spec(136)
def test_a_pool_of_queries_follows_its_equation_in_plain_arithmetic() -> None:
    pool = AttentionPool(4, num_queries=3)
    randomised(pool)
    steps = numbers(3, 5, 4)
    found = pool(steps, IS_TOKEN)
    assert found.shape == (3, pool.output_size)
    for row, length in enumerate([5, 3, 1]):
        expected = []
        for query in pool.look.queries.tolist():
            powers = [
                math.exp(sum(a * b for a, b in zip(query, step, strict=True)) / 2)
                for step in steps[row, :length].tolist()
            ]
            expected += [
                sum(p * step[feature] for p, step in zip(powers, steps[row].tolist(), strict=False))
                / sum(powers)
                for feature in range(4)
            ]
        assert found[row].tolist() == pytest.approx(expected, abs=1e-12)


def test_queries_take_any_score_and_projections() -> None:
    attention = Attention(AdditiveScore(2, 7), key=nn.Linear(4, 7), value=nn.Linear(4, 3))
    look = LearnedQueries(attention, num_queries=5)
    randomised(look)
    steps = numbers(3, 5, 4)
    expected, _ = attention(look.queries.repeat(3, 1, 1), steps, may_attend=IS_TOKEN.unsqueeze(1))
    torch.testing.assert_close(look(steps, IS_TOKEN), expected, rtol=0, atol=0)


@pytest.mark.spec(136)
@pytest.mark.parametrize(
    "settings", SMALL, ids=["bidirectional", "hidden head", "convolutional", "transformer"]
)
def test_a_classifier_of_every_kind_pools_by_queries_and_shows_where_each_looks(
    settings: RecurrentSettings | ConvolutionalSettings | TransformerSettings,
) -> None:
    torch.manual_seed(4)
    model = build_classifier(settings, embedding=lambda size: nn.Embedding(10, size), num_classes=4).eval()
    with record_alignments(model) as alignments:
        logits = model(TOKENS, IS_TOKEN)
    assert logits.shape == (3, 4)
    (alignment,) = alignments["pool.look.attention"]
    assert alignment.shape == (3, 1, 3, 5)  # each query over the tokens
    torch.testing.assert_close(alignment.sum(dim=-1), torch.ones(3, 1, 3))
    assert (alignment[~IS_TOKEN[:, None, None, :].expand_as(alignment)] == 0).all()
    alone = model(TOKENS[1:2, :3], IS_TOKEN[1:2, :3])
    torch.testing.assert_close(logits[1:2], alone, rtol=0, atol=1e-6)
    logits.sum().backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    found = gradients["pool.look.queries"]
    assert found is not None
    assert found.any()


@pytest.mark.spec(136)
def test_queries_learn_to_find_the_one_step_that_matters() -> None:
    """One step of many carries a mark and the class; the query learns to look there and the mean would drown
    it.
    """
    torch.manual_seed(1)
    pool, head = AttentionPool(6, num_queries=2), nn.Linear(12, 2)
    optimizer = torch.optim.Adam([*pool.parameters(), *head.parameters()], lr=0.05)

    def batch(size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        steps, place, label = torch.randn(size, 20, 6), torch.randint(20, (size,)), torch.randint(2, (size,))
        rows = torch.arange(size)
        steps[rows, place, 0] = 6.0
        steps[rows, place, 1] = label * 2.0 - 1
        return steps, place, label

    is_token = torch.ones(64, 20, dtype=torch.bool)
    for _ in range(80):
        steps, _, label = batch(64)
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(pool(steps, is_token)), label).backward()
        optimizer.step()
    steps, place, label = batch(64)
    with record_alignments(pool) as alignments:
        found = head(pool(steps, is_token)).argmax(dim=-1)
    assert (found == label).float().mean() > 0.95
    looks = alignments["look.attention"][0][:, 0]  # (batch, queries, source)
    assert (looks.argmax(dim=-1) == place[:, None]).any(dim=1).float().mean() > 0.9
