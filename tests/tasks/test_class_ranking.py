"""ROC AUC and average precision of two classes: they depend on the order of the model's outputs and on nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import nn

from seqlab.metrics.calibration import apply_temperature
from seqlab.tasks.classification.calibration import ClassificationCalibration, ranking_items
from seqlab.tasks.labeled.class_predictions import ClassPredictions
from tests.tasks.test_classification import make

TARGETS = np.array([0, 1, 0, 1, 1])


def ranked(log_odds: list[float]) -> dict[str, float]:
    logits = np.array([[0.0, value] for value in log_odds], dtype=np.float32)
    predictions = ClassPredictions(TARGETS, apply_temperature(logits, 1.0).astype(np.float32))
    return {name: items.full_score() for name, items in ranking_items(predictions).items()}


def test_outputs_that_differ_by_rounding_are_ties() -> None:
    """Texts of unknown words only have one mean, up to the rounding of sums over another number of words."""
    noisy = [0.12188889, 0.12188893, 0.12188892, 0.4, 0.12188890]
    equal = [0.0, 0.0, 0.0, 1.0, 0.0]
    assert ranked(noisy) == pytest.approx(
        {
            "roc_auc": roc_auc_score(TARGETS, equal),
            "average_precision": average_precision_score(TARGETS, equal),
        }
    )


def test_outputs_whose_probability_rounds_to_one_keep_their_order() -> None:
    assert ranked([38.0, 42.0, 40.0, 50.0, 60.0]) == {"roc_auc": 1.0, "average_precision": 1.0}


@pytest.mark.parametrize("temperature", [0.05, 20.0])
def test_a_temperature_changes_no_ranking(temperature: float, tmp_path: Path) -> None:
    task = make(tmp_path, [(f"text {i} of {i % 5} words", "yes" if i % 3 else "no") for i in range(30)])
    model = task.build_model().eval()
    nn.init.normal_(model.head.weight, std=3.0)
    plain, scaled = (
        {score.name: score.value for score in task.evaluate(model, "test", calibration).scores}
        for calibration in (ClassificationCalibration(), ClassificationCalibration(temperature))
    )
    assert scaled["loss"] != pytest.approx(plain["loss"])
    assert [scaled[name] for name in ("roc_auc", "average_precision")] == [
        plain[name] for name in ("roc_auc", "average_precision")
    ]
