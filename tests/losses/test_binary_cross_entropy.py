"""Cross-entropy of label sets against arithmetic."""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.losses.binary_cross_entropy import binary_cross_entropy

LOGITS = [[0.4, -1.2, 2.0], [-0.3, 0.0, 1.1]]
TARGETS = [[True, False, False], [False, True, True]]


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_it_is_the_sum_over_examples_and_labels_with_half_the_smoothing_on_either_side(
    smoothing: float,
) -> None:
    expected = 0.0
    for logits, targets in zip(LOGITS, TARGETS, strict=True):
        for logit, is_label in zip(logits, targets, strict=True):
            yes = 1 / (1 + math.exp(-logit))
            target = 1 - smoothing / 2 if is_label else smoothing / 2
            expected -= target * math.log(yes) + (1 - target) * math.log(1 - yes)
    loss = binary_cross_entropy(torch.tensor(LOGITS), torch.tensor(TARGETS), label_smoothing=smoothing)
    assert loss.item() == pytest.approx(expected, rel=1e-6)
