"""Local attention in plain arithmetic."""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.attention.attend import Attention
from seqlab.attention.general import GeneralScore
from seqlab.attention.local import MonotonicWindow, PredictedWindow
from seqlab.attention.normalization import SoftmaxNormalizer
from seqlab.core.errors import UsageError
from tests.attention.scores_to_try import numbers, randomised

LENGTHS = [8, 3]


def softmax(values: list[float]) -> list[float]:
    powers = [math.exp(value) for value in values]
    return [power / sum(powers) for power in powers]


def attention_with(window: MonotonicWindow | PredictedWindow) -> Attention:
    torch.manual_seed(3)
    attention = Attention(GeneralScore(3, 5), window=window)
    randomised(attention)
    return attention


@pytest.mark.spec(134)
@pytest.mark.parametrize("given", [False, True])
def test_a_monotonic_window_looks_at_the_sources_around_a_place(given: bool) -> None:
    attention = attention_with(MonotonicWindow(reach=2))
    queries, keys = numbers(2, 4, 3), numbers(2, 8, 5, seed=2)
    is_token = torch.arange(8) < torch.tensor(LENGTHS)[:, None]
    places = torch.tensor([[5, 0, 7, 1], [2, 6, 0, 4]]) if given else None
    contexts, alignment = attention(queries, keys, may_attend=is_token.unsqueeze(1), query_positions=places)
    scores = attention.score(queries, keys)
    for row, length in enumerate(LENGTHS):
        for target in range(4):
            centre = target if places is None else int(places[row, target])
            seen = [source for source in range(length) if centre - 2 <= source <= centre + 2]
            weights = (
                dict(zip(seen, softmax([scores[row, target, source].item() for source in seen]), strict=True))
                if seen
                else {}
            )
            expected = [weights.get(source, 0.0) for source in range(8)]
            assert alignment[row, target].tolist() == pytest.approx(expected, abs=1e-12)
            for feature in range(5):
                value = sum(
                    weight * keys[row, source, feature].item() for source, weight in enumerate(expected)
                )
                assert contexts[row, target, feature].item() == pytest.approx(value, abs=1e-12)
    assert given == bool((alignment[1, 1] == 0).all())  # around place 6 the sentence of length 3 has nothing


@pytest.mark.spec(134)
def test_a_predicted_window_follows_the_equations_with_each_sentence_by_its_own_length() -> None:
    window = PredictedWindow(3, reach=2, hidden_size=4)
    attention = attention_with(window)
    queries, keys = numbers(2, 4, 3), numbers(2, 8, 5, seed=2)
    is_token = torch.arange(8) < torch.tensor(LENGTHS)[:, None]
    _, alignment = attention(queries, keys, may_attend=is_token.unsqueeze(1))
    scores = attention.score(queries, keys)
    w, v = window.inner.weight.tolist(), window.outer.weight[0].tolist()
    for row, length in enumerate(LENGTHS):
        for target, query in enumerate(queries[row].tolist()):
            inner = [math.tanh(sum(a * b for a, b in zip(line, query, strict=True))) for line in w]
            place = length / (1 + math.exp(-sum(a * b for a, b in zip(v, inner, strict=True))))
            seen = [source for source in range(length) if abs(source - place) <= 2]
            weights = dict(
                zip(seen, softmax([scores[row, target, source].item() for source in seen]), strict=True)
            )
            expected = [
                weights.get(source, 0.0) * math.exp(-((source - place) ** 2) / (2 * 1.0**2))
                for source in range(8)
            ]
            assert alignment[row, target].tolist() == pytest.approx(expected, abs=1e-12)


def test_a_wide_monotonic_window_is_global_attention() -> None:
    attention = attention_with(MonotonicWindow(reach=8))
    queries, keys = numbers(2, 4, 3), numbers(2, 8, 5, seed=2)
    torch.testing.assert_close(
        attention(queries, keys)[1], SoftmaxNormalizer()(attention.score(queries, keys)), rtol=0, atol=0
    )


def test_the_place_is_learned_through_the_factor() -> None:
    """The scores are all equal, so only the place can tell sources apart; it walks to where the value is."""
    torch.manual_seed(1)
    score = GeneralScore(3, 5)
    torch.nn.init.zeros_(score.project_key.weight).requires_grad_(False)
    attention = Attention(score, window=PredictedWindow(3, reach=4))
    query, keys, values = torch.ones(1, 1, 3), torch.randn(1, 10, 5), torch.zeros(1, 10, 1)
    values[0, 7] = 1.0
    optimizer = torch.optim.Adam([p for p in attention.parameters() if p.requires_grad], lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        (-attention(query, keys, values)[0]).sum().backward()
        optimizer.step()
    assert attention(query, keys, values)[1][0, 0].argmax() == 7


@pytest.mark.parametrize("reach", [0, -3])
def test_a_window_without_width_is_refused(reach: int) -> None:
    with pytest.raises(
        UsageError,
        match=rf"reach is {reach}\.\n  .*reach=1 or more\.",
    ):
        MonotonicWindow(reach=reach)
