"""Cross-entropy over real targets, by plain arithmetic."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from seqlab.losses.cross_entropy import class_cross_entropy, token_cross_entropy

LENGTHS = [4, 1, 3]


def surprise(logits: list[float], target: int) -> float:
    """-log P(target) by the definition."""
    return math.log(sum(math.exp(value) for value in logits)) - logits[target]


def ragged() -> tuple[Tensor, Tensor, Tensor]:
    random = torch.Generator().manual_seed(3)
    logits = torch.randn(3, 4, 5, generator=random, dtype=torch.float64)
    targets = torch.randint(0, 5, (3, 4), generator=random)
    is_target = torch.arange(4) < torch.tensor(LENGTHS)[:, None]
    logits[~is_target] = 1e4  # would be a large loss, were it seen
    return logits, targets, is_target


@pytest.mark.spec(43)
def test_a_sequences_loss_is_the_mean_over_its_steps() -> None:
    logits, targets, is_target = ragged()
    for row, length in enumerate(LENGTHS):
        expected = (
            sum(surprise(logits[row, t].tolist(), int(targets[row, t])) for t in range(length)) / length
        )
        part = slice(row, row + 1)
        found = token_cross_entropy(logits[part], targets[part], is_target[part]) / is_target[part].sum()
        assert found.item() == pytest.approx(expected, abs=1e-12)


def test_the_loss_of_a_batch_is_the_sum_over_its_real_tokens() -> None:
    logits, targets, is_target = ragged()
    expected = sum(
        surprise(logits[row, t].tolist(), int(targets[row, t]))
        for row, length in enumerate(LENGTHS)
        for t in range(length)
    )
    assert token_cross_entropy(logits, targets, is_target).item() == pytest.approx(expected, abs=1e-12)


def test_padding_gets_no_gradient_and_may_hold_any_id() -> None:
    logits, targets, is_target = ragged()
    logits.requires_grad_()
    token_cross_entropy(logits, targets.masked_fill(~is_target, -1), is_target).backward()
    assert logits.grad is not None
    assert (logits.grad[~is_target] == 0).all()
    assert (logits.grad[is_target] != 0).all()


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
def test_label_smoothing_spreads_a_share_over_all_classes(smoothing: float) -> None:
    logits, targets, is_target = ragged()
    by_hand = 0.0
    for row, length in enumerate(LENGTHS):
        for t in range(length):
            each = [surprise(logits[row, t].tolist(), label) for label in range(5)]
            by_hand += (1 - smoothing) * each[int(targets[row, t])] + smoothing * sum(each) / 5
    assert token_cross_entropy(logits, targets, is_target, label_smoothing=smoothing).item() == pytest.approx(
        by_hand, abs=1e-11
    )
    as_classes = class_cross_entropy(logits[is_target], targets[is_target], label_smoothing=smoothing)
    assert as_classes.item() == pytest.approx(by_hand, abs=1e-11)
    torchs = F.cross_entropy(logits[is_target], targets[is_target], label_smoothing=smoothing) * sum(LENGTHS)
    assert as_classes.item() == pytest.approx(torchs.item(), abs=1e-11)


def test_the_sum_of_parts_is_the_loss_of_the_whole() -> None:
    """Why losses are sums: batches of different sizes then add up to the exact mean."""
    logits, targets, is_target = ragged()
    whole = token_cross_entropy(logits, targets, is_target)
    parts = sum(
        token_cross_entropy(logits[part], targets[part], is_target[part])
        for part in (slice(0, 2), slice(2, 3))
    )
    torch.testing.assert_close(whole, parts, rtol=0, atol=1e-12)


def test_a_sure_and_right_model_has_no_loss_and_a_uniform_one_the_log_of_its_choices() -> None:
    targets = torch.tensor([2, 0])
    sure = F.one_hot(targets, 5).double() * 1e3
    assert class_cross_entropy(sure, targets).item() == 0
    assert class_cross_entropy(torch.zeros(2, 5), targets).item() == pytest.approx(2 * math.log(5))
