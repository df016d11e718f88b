"""The non-local block against loops over places."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from seqlab.attention.non_local import NonLocalBlock
from seqlab.attention.normalization import HardmaxNormalizer
from seqlab.attention.recording import record_alignments
from tests.attention.scores_to_try import SCORES, build_score, numbers, randomised

Row = list[float]


def times(matrix: list[Row], vector: Row) -> Row:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def by_loops(block: NonLocalBlock, features: Tensor) -> list[Row]:
    """One picture, place by place: exp(θ(x_i) · φ(x_j)) / Σ_j exp(…), Σ_j a_ij g(x_j), W_o, and the place
    itself.
    """
    theta, output = block.theta.weight.tolist(), block.output.weight.tolist()
    phi, g = block.attention.key.weight.tolist(), block.attention.value.weight.tolist()  # a Linear
    places = features.flatten(0, -2).tolist()
    improved = []
    for place in places:
        query = times(theta, place)
        powers = [
            math.exp(sum(a * b for a, b in zip(query, times(phi, other), strict=True))) for other in places
        ]
        values = [times(g, other) for other in places]
        context = [
            sum(power * value[c] for power, value in zip(powers, values, strict=True)) / sum(powers)
            for c in range(len(g))
        ]
        improved.append([a + b for a, b in zip(place, times(output, context), strict=True)])
    return improved


@pytest.mark.spec(138)
@pytest.mark.parametrize("places", [(2, 3, 4), (3, 5), (6,)], ids=["time and space", "space", "time"])
def test_it_follows_the_equations_place_by_place(places: tuple[int, ...]) -> None:
    block = NonLocalBlock(5, inner_size=3)
    randomised(block)
    features = numbers(2, *places, 5)
    with record_alignments(block) as alignments:
        found = block(features)
    count = math.prod(places)
    assert alignments["attention"][0].shape == (2, 1, count, count)
    assert found.shape == features.shape
    for row in range(2):
        expected = torch.tensor(by_loops(block, features[row]), dtype=torch.float64)
        torch.testing.assert_close(found[row].flatten(0, -2), expected, rtol=0, atol=1e-12)


def test_at_first_it_changes_nothing_and_soon_learns() -> None:
    block = NonLocalBlock(6)
    features = torch.randn(2, 3, 4, 6)
    assert block.theta.out_features == 3  # half of the channels
    assert torch.equal(block(features), features)
    block(features).square().sum().backward()
    assert block.output.weight.grad is not None
    assert block.output.weight.grad.any()


@pytest.mark.spec(127)
@pytest.mark.parametrize("name", SCORES)
def test_the_score_can_be_exchanged(name: str) -> None:
    score = build_score(name, query_size=3)
    if score.key_size != 3:
        score = type(score)(3, 3)
    block = NonLocalBlock(5, inner_size=3, score=score, normalizer=HardmaxNormalizer())
    randomised(block)
    features = numbers(2, 2, 3, 5)
    places = features.flatten(1, 2)
    best = score(block.theta(places), block.attention.key(places)).argmax(dim=-1)  # (batch, places)
    values = block.attention.value(places).gather(1, best.unsqueeze(-1).expand(-1, -1, 3))
    torch.testing.assert_close(
        block.eval()(features), features + block.output(values).view_as(features), rtol=0, atol=1e-12
    )


def test_places_that_are_not_real_are_looked_at_by_nobody() -> None:
    block = NonLocalBlock(5, inner_size=3)
    randomised(block)
    features = numbers(2, 4, 2, 2, 5)
    is_real = torch.ones(2, 4, 2, 2, dtype=torch.bool)
    is_real[1, 2:] = False  # the second video is two frames long
    whole = block(torch.where(is_real.unsqueeze(-1), features, 50 * features), is_real)
    torch.testing.assert_close(whole[1, :2], block(features[1:2, :2])[0], rtol=0, atol=1e-12)
    torch.testing.assert_close(whole[0], block(features[:1])[0], rtol=0, atol=1e-12)
