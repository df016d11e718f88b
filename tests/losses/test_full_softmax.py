from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from seqlab.losses import full_softmax as room
from seqlab.losses.full_softmax import full_softmax_loss, target_log_probs, target_log_probs_and_hits


def example(
    steps: int = 11, hidden: int = 3, vocab: int = 7
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(4)
    features, weight, bias = (
        torch.randn(*shape, dtype=torch.double, requires_grad=True)
        for shape in ((steps, hidden), (vocab, hidden), (vocab,))
    )
    return features, weight, bias, torch.randint(vocab, (steps,))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_in_chunks_loss_and_gradients_are_those_of_the_plain_computation(
    smoothing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_LOGITS", 30)  # 4 of the 11 steps at once: the last chunk is a shorter one
    *leaves, targets = example()
    total, correct = full_softmax_loss(*leaves, targets, label_smoothing=smoothing)
    ours = torch.autograd.grad(total / 5, leaves)
    logits = F.linear(*leaves)
    plain = F.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)
    assert total.item() == pytest.approx(plain.item(), abs=1e-12)
    assert correct == int((logits.argmax(dim=-1) == targets).sum())
    for our, their in zip(ours, torch.autograd.grad(plain / 5, leaves), strict=True):
        torch.testing.assert_close(our, their, rtol=1e-10, atol=1e-12)
    assert torch.autograd.gradcheck(
        lambda *given: full_softmax_loss(*given, targets, label_smoothing=smoothing)[0], leaves
    )


def test_log_probabilities_of_targets_are_those_of_a_softmax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_LOGITS", 30)
    *leaves, targets = (each.detach() for each in example())
    logits = F.linear(*leaves)
    expected = logits.log_softmax(dim=-1)[torch.arange(11), targets]
    torch.testing.assert_close(target_log_probs(*leaves, targets), expected.float())
    log_probs, correct = target_log_probs_and_hits(*leaves, targets)
    torch.testing.assert_close(log_probs, expected.float())
    assert correct == int((logits.argmax(dim=-1) == targets).sum())


def test_label_smoothing_spreads_a_share_of_the_target() -> None:
    *leaves, targets = example()
    total, _ = full_softmax_loss(*leaves, targets, label_smoothing=0.1)
    log_probs = F.linear(*leaves).detach().log_softmax(dim=-1)
    expected = -sum(
        0.9 * row[target] + 0.1 * row.mean() for row, target in zip(log_probs, targets.tolist(), strict=True)
    )
    assert total.item() == pytest.approx(float(expected))
