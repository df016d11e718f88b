"""The loss that a network of tokens computes in its forward pass, beside the same from all logits."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from seqlab.losses import full_softmax
from seqlab.losses.distillation import SoftTargets
from seqlab.losses.sampled_softmax import SampledSoftmax
from seqlab.losses.token_loss import TokenLoss

BATCH, TIME, HIDDEN, VOCAB = 3, 5, 4, 7
IS_TARGET = torch.arange(TIME) < torch.tensor([5, 2, 3])[:, None]


def example() -> tuple[list[Tensor], Tensor, Tensor]:
    """Features, weight and bias; the logits of every step; the targets."""
    torch.manual_seed(4)
    leaves = [
        torch.randn(*shape, dtype=torch.double, requires_grad=True)
        for shape in ((BATCH, TIME, HIDDEN), (VOCAB, HIDDEN), (VOCAB,))
    ]
    return leaves, F.linear(*leaves), torch.randint(VOCAB, (BATCH, TIME))


def check(loss: TokenLoss, expected: Tensor, correct: Tensor, leaves: list[Tensor]) -> None:
    value = loss(*leaves)
    assert value.total.item() == pytest.approx(expected.item(), rel=1e-10)
    assert value.correct == correct
    for found, true in zip(
        torch.autograd.grad(value.total, leaves), torch.autograd.grad(expected, leaves), strict=True
    ):
        torch.testing.assert_close(found, true)


@pytest.mark.parametrize("logits_at_once", [30, 1 << 23])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("is_target", [None, IS_TARGET], ids=["all steps", "some steps"])
def test_it_is_the_cross_entropy_of_the_steps_that_count(
    is_target: Tensor | None, smoothing: float, logits_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_softmax, "MAX_LOGITS", logits_at_once)
    leaves, logits, targets = example()
    counts = torch.ones(BATCH, TIME, dtype=torch.bool) if is_target is None else is_target
    expected = F.cross_entropy(logits[counts], targets[counts], reduction="sum", label_smoothing=smoothing)
    check(
        TokenLoss(targets, is_target, smoothing),
        expected,
        (logits.argmax(dim=-1) == targets)[counts].sum(),
        leaves,
    )


def test_the_softmax_may_be_a_sampled_one() -> None:
    leaves, logits, targets = example()
    chances = torch.tensor([1.0, 0.5, 1.0, 0.25, 1.0, 0.5, 1.0])
    torch.manual_seed(3)
    value = TokenLoss(targets, IS_TARGET, sampled_softmax=SampledSoftmax(chances))(*leaves)
    torch.manual_seed(3)
    expected = SampledSoftmax(chances)(leaves[0][IS_TARGET], *leaves[1:], targets[IS_TARGET])
    assert value == expected
    assert value.total.item() != pytest.approx(
        F.cross_entropy(logits[IS_TARGET], targets[IS_TARGET], reduction="sum").item()
    )


@pytest.mark.parametrize("is_target", [None, IS_TARGET], ids=["all steps", "some steps"])
def test_a_teacher_counts_by_its_share(is_target: Tensor | None) -> None:
    leaves, logits, targets = example()
    counts = torch.ones(BATCH, TIME, dtype=torch.bool) if is_target is None else is_target
    taught = torch.randn(BATCH, TIME, VOCAB, dtype=torch.double)
    soft_targets = SoftTargets(
        taught if is_target is None else taught[is_target], weight=0.3, temperature=2.5
    )
    p, log_q = (taught[counts] / 2.5).softmax(dim=-1), (logits[counts] / 2.5).log_softmax(dim=-1)
    soft = 2.5**2 * (p * (p.log() - log_q)).sum()
    expected = (
        0.7 * F.cross_entropy(logits[counts], targets[counts], reduction="sum", label_smoothing=0.1)
        + 0.3 * soft
    )
    check(
        TokenLoss(targets, is_target, 0.1, soft_targets=soft_targets),
        expected,
        (logits.argmax(dim=-1) == targets)[counts].sum(),
        leaves,
    )
