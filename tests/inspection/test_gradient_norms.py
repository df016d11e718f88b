"""Gradient norms of anyone's model, batch by batch, and of a run's journal."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from seqlab.core.errors import RunError
from seqlab.inspection.gradient_norms import gradient_norms, suggest_clip_from_journal
from seqlab.training.clip_advice import suggest_clip
from seqlab.training.journal import Journal


def loss(model: nn.Module, batch: Tensor) -> Tensor:
    return model(batch)[0].square().mean()


@pytest.mark.spec(91)
def test_the_norms_of_a_torch_model_are_those_of_its_gradients_and_nothing_is_left_behind() -> None:
    torch.manual_seed(0)
    model = nn.LSTM(3, 5, batch_first=True)
    weights = [parameter.detach().clone() for parameter in model.parameters()]
    loss(model, torch.ones(1, 2, 3)).backward()
    standing = [parameter.grad.clone() for parameter in model.parameters()]
    batches = [torch.randn(2, time, 3) for time in (3, 5, 7)]
    found = gradient_norms(model, batches, loss)
    for norm, batch in zip(found, batches, strict=True):
        gradients = torch.autograd.grad(loss(model, batch), list(model.parameters()))
        assert norm == pytest.approx(sum(float(g.square().sum()) for g in gradients) ** 0.5, rel=1e-5)
    torch.testing.assert_close([parameter.grad for parameter in model.parameters()], standing, rtol=0, atol=0)
    torch.testing.assert_close(
        list(model.parameters()), [nn.Parameter(part) for part in weights], rtol=0, atol=0
    )
    assert suggest_clip(found).average == pytest.approx(sum(found) / 3)


@pytest.mark.spec(91)
def test_the_journal_of_a_run_gives_the_advice(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    for step, norm in enumerate([1.0, 5.0, 3.0], start=1):
        journal.write("step", step=step, gradient_norm=norm)
    journal.write("validated", step=3, valid_loss=1.0)
    advice = suggest_clip_from_journal(tmp_path / "journal.jsonl", clip_norm=2.0)
    assert (advice.suggestion, advice.limit) == (3.0, 2.0)
    assert advice.clipped_share == pytest.approx(2 / 3)


def test_a_run_without_steps_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no gradient norms"):
        suggest_clip_from_journal(tmp_path / "journal.jsonl")
