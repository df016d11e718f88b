from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from seqlab.losses.sampled_softmax import SampledSoftmax, inclusion_probabilities
from tests.losses.test_full_softmax import example


def test_sampling_every_token_is_the_full_softmax() -> None:
    *leaves, targets = example()
    total, correct = SampledSoftmax(torch.ones(7))(*leaves, targets)
    logits = F.linear(*leaves)
    plain = F.cross_entropy(logits, targets, reduction="sum")
    assert total.item() == pytest.approx(plain.item())
    assert correct == int((logits.argmax(dim=-1) == targets).sum())
    for our, their in zip(
        torch.autograd.grad(total, leaves), torch.autograd.grad(plain, leaves), strict=True
    ):
        torch.testing.assert_close(our, their)


def test_a_sampled_token_counts_by_one_over_its_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    chances = torch.tensor([1.0, 0.5, 0.25, 0.2])
    monkeypatch.setattr(
        torch, "rand", lambda _: torch.tensor([0.9, 0.7, 0.1, 0.1])
    )  # tokens 0, 2 and 3 are drawn
    features, weight, bias = (
        torch.tensor([[2.0]]),
        torch.tensor([[0.3], [-0.5], [0.7], [0.1]]),
        torch.tensor([0.0, 0.1, -0.2, 0.4]),
    )
    logits = [0.3 * 2, -0.5 * 2 + 0.1, 0.7 * 2 - 0.2, 0.1 * 2 + 0.4]
    sampler = SampledSoftmax(chances)
    not_drawn = (
        math.exp(logits[1]) + math.exp(logits[0]) + math.exp(logits[2]) / 0.25 + math.exp(logits[3]) / 0.2
    )
    drawn = (
        math.exp(logits[2]) + math.exp(logits[0]) + math.exp(logits[3]) / 0.2
    )  # the target itself is never divided, nor counted twice
    assert sampler(features, weight, bias, torch.tensor([1]))[0].item() == pytest.approx(
        math.log(not_drawn) - logits[1]
    )
    assert sampler(features, weight, bias, torch.tensor([2]))[0].item() == pytest.approx(
        math.log(drawn) - logits[2]
    )


@pytest.mark.slow
def test_the_estimated_sum_over_the_vocabulary_has_the_true_mean() -> None:
    *leaves, targets = (each.detach() for each in example())
    logits = F.linear(*leaves)
    chances = inclusion_probabilities(torch.tensor([9.0, 1.0, 4.0, 0.0, 2.0, 30.0, 5.0]), 4)
    torch.manual_seed(2)
    sampler = SampledSoftmax(chances)
    one = [row[:1] for row in (leaves[0], targets)]
    own = logits[0, targets[0]]
    sums = torch.stack([(sampler(one[0], leaves[1], leaves[2], one[1])[0] + own).exp() for _ in range(4000)])
    error = float(sums.std() / math.sqrt(len(sums)))
    assert abs(float(sums.mean()) - float(logits[0].exp().sum())) < 4 * error


def test_chances_grow_with_counts_up_to_one_and_sum_to_the_wanted_number() -> None:
    counts = torch.tensor([1000.0, 500.0, 20.0, 3.0, 3.0, 1.0, 0.0])
    chances = inclusion_probabilities(counts, 4)
    assert chances.sum().item() == pytest.approx(4)
    assert (chances[:2] == 1).all()
    assert chances[3] == chances[4]
    assert chances[5] == chances[6] > 0
    assert chances[3] / chances[5] == pytest.approx(3**0.75)
    assert inclusion_probabilities(counts, 9).tolist() == [1.0] * 7
