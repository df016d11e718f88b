from __future__ import annotations

import pytest

from seqlab.training.budget import scale_count, scale_counts
from seqlab.training.settings import TrainingSettings


@pytest.mark.parametrize(
    ("name", "value", "share", "expected"),
    [
        ("warmup_steps", 528, 0.25, 132),
        ("warmup_steps", 3, 0.01, 1),
        ("warmup_steps", 0, 0.5, 0),
        ("warmup_steps", -1, 0.5, -1),
        ("decay_steps", 8800, 0.1, 880),
        ("decay_steps", 0, 0.1, 0),
        ("average_every", 100, 690 / 4500, 15),
        ("average_every", 100, 0.001, 1),
        ("average_every", 0, 0.5, 0),
        ("evaluate_every", 500, 690 / 4500, 77),
        ("evaluate_every", 500, 0.01, 25),  # a short run does not spend its time on validation
        ("evaluate_every", 10, 0.01, 10),
        ("evaluate_every", 0, 0.5, 0),
        ("ema_decay", 0.0, 0.5, 0.0),
    ],
)
def test_a_count_shrinks_with_the_run(name: str, value: float, share: float, expected: float) -> None:
    assert scale_count(name, value, share) == expected


def test_a_moving_average_spans_the_same_share_of_a_shorter_run() -> None:
    """It reaches back over about 1 / (1 - decay) updates."""
    scaled = scale_count("ema_decay", 0.997, 0.1)
    assert 1 / (1 - scaled) == pytest.approx(0.1 / (1 - 0.997))
    assert scale_count("ema_decay", 0.9, 0.01) == 0.0


def test_only_named_counts_are_scaled() -> None:
    settings = TrainingSettings(
        warmup_steps=100,
        decay_steps=1000,
        average_checkpoints=4,
        average_every=50,
        scale_with_budget=("decay_steps", "average_every"),
    )
    half = scale_counts(settings, 0.5)
    assert (half.warmup_steps, half.decay_steps, half.average_every) == (100, 500, 25)
    assert half.learning_rate == settings.learning_rate
    assert scale_counts(settings, 1.0) == settings
