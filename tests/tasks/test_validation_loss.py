"""The validation loss is the plain loss: label smoothing is for training alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tasks.loss_cases import build

SMOOTHABLE = (
    "classification, lstm",
    "multi_label",
    "tagging",
    "language_model, lstm",
    "masked_language_model",
    "translation, transformer",
    "translation, recurrent",
    "captioning, transformer",
)


@pytest.mark.parametrize("name", SMOOTHABLE)
def test_label_smoothing_does_not_change_the_validation_loss(name: str, tmp_path: Path) -> None:
    objective, model = build(name, tmp_path)
    model, splits = model.float().eval(), {"valid": objective.splits["train"]}
    losses = []
    for smoothing in (0.0, 0.3):
        recipe = objective.recipe.changed("training", label_smoothing=smoothing)
        validation = type(objective)(replace(objective.codec, recipe=recipe), splits).validate(model)
        losses.append((validation.value, validation.facts["valid_loss"]))
    assert losses[0] == losses[1]
