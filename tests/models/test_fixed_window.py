"""A net over the last few steps: it follows its equation, sees no future, and nothing beyond its window."""

from __future__ import annotations

import pytest
import torch

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import ArgumentError
from seqlab.models.fixed_window import FixedWindowBackbone
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings.fixed_window import FixedWindowSettings
from tests.models.settings_to_try import build

SETTINGS = FixedWindowSettings(hidden_size=5, embedding_size=3, context=4)


@pytest.mark.spec(47)
def test_the_same_net_stands_at_every_step_and_follows_the_equation() -> None:
    backbone = build(SETTINGS, causal=True)
    assert isinstance(backbone, FixedWindowBackbone)
    steps = torch.randn(2, 7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    outputs, _ = backbone(steps, torch.ones(2, 7, dtype=torch.bool))
    for row in range(2):
        for t in range(7):
            window = [
                steps[row, s] if s >= 0 else torch.zeros(3, dtype=torch.float64) for s in range(t - 3, t + 1)
            ]
            expected = torch.tanh(backbone.hidden.weight @ torch.cat(window) + backbone.hidden.bias)
            torch.testing.assert_close(outputs[row, t], expected, rtol=0, atol=1e-12)


@pytest.mark.spec(47)
def test_it_is_a_convolution_over_time_with_a_kernel_as_wide_as_the_window() -> None:
    backbone = build(SETTINGS, causal=True)
    assert isinstance(backbone, FixedWindowBackbone)
    steps = torch.randn(2, 7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    kernel = backbone.hidden.weight.unflatten(1, (4, 3)).transpose(1, 2)  # (hidden, input, context)
    padded = torch.nn.functional.pad(steps.transpose(1, 2), (3, 0))
    convolved = torch.nn.functional.conv1d(padded, kernel, backbone.hidden.bias).transpose(1, 2)
    outputs, _ = backbone(steps, torch.ones(2, 7, dtype=torch.bool))
    torch.testing.assert_close(outputs, torch.tanh(convolved), rtol=0, atol=1e-12)


@pytest.mark.spec(47)
def test_a_language_model_sees_no_future_and_no_farther_back_than_its_window() -> None:
    backbone = build(SETTINGS, causal=True)
    model = (
        LanguageModel(TokenEmbedding(9, 3, pad_id=None).double(), backbone, dropout=0.0, tied=False)
        .double()
        .eval()
    )
    tokens = torch.randint(0, 9, (1, 12), generator=torch.Generator().manual_seed(1))
    logits, _ = model(tokens, torch.ones_like(tokens, dtype=torch.bool))
    for place in range(12):
        changed = tokens.clone()
        changed[0, place] = (changed[0, place] + 1) % 9
        others, _ = model(changed, torch.ones_like(tokens, dtype=torch.bool))
        moved = (others - logits).abs().amax(dim=-1)[0] > 1e-13  # (time,)
        assert moved.nonzero().flatten().tolist() == list(range(place, min(12, place + 4)))
    steps = torch.randn(1, 12, 3, dtype=torch.float64, requires_grad=True)
    (reach,) = torch.autograd.grad(backbone(steps, torch.ones(1, 12, dtype=torch.bool))[0][0, 8].sum(), steps)
    assert reach[0].any(dim=-1).nonzero().flatten().tolist() == [5, 6, 7, 8]


def test_a_window_without_a_middle_is_refused_where_both_sides_are_seen() -> None:
    with pytest.raises(ArgumentError) as caught:
        FixedWindowBackbone.from_settings(SETTINGS, causal=False)
    assert (caught.value.argument, caught.value.value) == ("context", 4)
    assert "3 or 5" in caught.value.cure
