from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from seqlab.tasks.language_model.dynamic_evaluation import DynamicSettings, dynamic_log_probs
from seqlab.tasks.language_model.log_likelihood import stream_log_probs
from tests.tasks.test_neural_cache import make_model, make_stream


def test_without_steps_the_scores_are_those_of_the_model(tmp_path: Path) -> None:
    model, stream = make_model(), make_stream(tmp_path / "store")
    plain = stream_log_probs(model, stream, window=11, carries_state=True, max_tokens=100)
    np.testing.assert_allclose(
        dynamic_log_probs(model, stream.values, DynamicSettings(0.0), segment=7), plain, rtol=1e-5
    )


def test_a_segment_is_scored_before_it_is_learned_from(tmp_path: Path) -> None:
    model, stream = make_model(), make_stream(tmp_path / "store", length=21)
    before = {name: each.clone() for name, each in model.state_dict().items()}
    found = dynamic_log_probs(model, stream.values, DynamicSettings(0.2, pull=0.1), segment=10)
    assert all(each.equal(before[name]) for name, each in model.state_dict().items())  # a copy has learned

    tokens = torch.from_numpy(stream.window(0, 21).astype(np.int64))[None]
    logits, state = model(tokens[:, :10], torch.ones(1, 10, dtype=torch.bool))
    first = logits.log_softmax(dim=-1)[0, torch.arange(10), tokens[0, 1:11]]
    loss = F.cross_entropy(logits[0], tokens[0, 1:11])
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    norm = torch.sqrt(sum((each.square().sum() for each in gradients), torch.zeros(())))
    with torch.no_grad():
        for each, gradient in zip(model.parameters(), gradients, strict=True):
            trained = each.clone()
            moved = trained - 0.2 * gradient / max(1.0, norm.item())
            each.copy_(moved + 0.1 * (trained - moved))
        logits, _ = model(
            tokens[:, 10:20], torch.ones(1, 10, dtype=torch.bool), tuple(part.detach() for part in state)
        )
    second = logits.log_softmax(dim=-1)[0, torch.arange(10), tokens[0, 11:21]]
    assert found.tolist() == pytest.approx([*first.tolist(), *second.tolist()], rel=1e-4)
