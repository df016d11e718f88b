from __future__ import annotations

from math import exp, log

import pytest
import torch
from torch.nn import functional as F

from seqlab.losses.distillation import distillation_loss


def softmax(logits: list[float]) -> list[float]:
    total = sum(exp(logit) for logit in logits)
    return [exp(logit) / total for logit in logits]


@pytest.mark.spec(172)
@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_it_is_the_divergence_of_the_softened_answers_times_the_square_of_the_temperature(
    temperature: float,
) -> None:
    student, teacher = [[0.3, -1.0, 2.0], [1.5, 0.0, -0.5]], [[1.0, 0.2, -0.7], [0.1, 0.4, 2.2]]
    expected = 0.0
    for ours, theirs in zip(student, teacher, strict=True):
        p, q = (softmax([logit / temperature for logit in logits]) for logits in (theirs, ours))
        expected += temperature**2 * sum(a * log(a / b) for a, b in zip(p, q, strict=True))
    found = distillation_loss(torch.tensor(student), torch.tensor(teacher), temperature=temperature)
    assert found.item() == pytest.approx(expected, rel=1e-5)


def test_equal_answers_cost_nothing_and_have_no_gradient() -> None:
    torch.manual_seed(3)
    logits = torch.randn(5, 7, dtype=torch.float64, requires_grad=True)
    loss = distillation_loss(
        logits, logits.detach() + 3.0, temperature=2.0
    )  # a shift of all logits changes no answer
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-12)
    assert logits.grad is not None
    assert logits.grad.abs().max().item() < 1e-12


@pytest.mark.spec(172)
def test_hot_answers_are_matched_logit_by_logit() -> None:
    """Hinton et al. 2015, equation 4: for a high temperature and logits of mean zero the gradient is (student
    - teacher) / classes.
    """
    torch.manual_seed(3)
    student, teacher = (
        logits - logits.mean(dim=-1, keepdim=True) for logits in torch.randn(2, 4, 5, dtype=torch.float64)
    )
    student.requires_grad_()
    distillation_loss(student, teacher, temperature=1e4).backward()
    assert student.grad is not None
    assert torch.allclose(student.grad, (student.detach() - teacher) / 5, atol=1e-4)


def test_a_sure_teacher_at_temperature_one_is_cross_entropy() -> None:
    torch.manual_seed(3)
    student, targets = torch.randn(4, 5), torch.tensor([0, 3, 1, 1])
    sure = F.one_hot(targets, 5).float() * 60
    assert distillation_loss(student, sure).item() == pytest.approx(
        F.cross_entropy(student, targets, reduction="sum").item(), rel=1e-5
    )


def test_steps_of_a_stream_are_summed_like_rows() -> None:
    torch.manual_seed(3)
    student, teacher = torch.randn(2, 3, 4, 5)
    assert distillation_loss(student, teacher, temperature=2.0).item() == pytest.approx(
        sum(
            distillation_loss(one, other, temperature=2.0).item()
            for one, other in zip(student, teacher, strict=True)
        ),
        rel=1e-5,
    )
