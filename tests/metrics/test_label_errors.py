"""Suspect labels by the thresholds of confident learning."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.metrics.label_errors import ENOUGH, FEWEST, LEAST, class_thresholds, label_error_rows


def test_thresholds_are_the_mean_confidence_in_the_label_itself() -> None:
    probabilities = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.4, 0.6, 0.0], [0.01, 0.0, 0.99]] * FEWEST)
    targets = np.array([0, 0, 1, 2] * FEWEST)
    assert class_thresholds(targets, probabilities) == pytest.approx([0.85, LEAST, ENOUGH])


def test_only_a_confident_contradiction_is_suspect() -> None:
    sure, unsure = [0.98, 0.02], [0.6, 0.4]
    probabilities = np.array([sure] * 10 + [sure[::-1]] * 10 + [sure, unsure, sure[::-1]])
    targets = np.array([0] * 10 + [1] * 10 + [1, 1, 0])
    assert label_error_rows(targets, np.log(probabilities)).tolist() == [20, 22]


def test_a_model_that_knows_nothing_doubts_nothing() -> None:
    chance = np.random.default_rng(3)
    targets = chance.integers(0, 4, 400)
    assert len(label_error_rows(targets, np.log(np.full((400, 4), 0.25)))) == 0


def test_a_class_of_few_examples_is_never_the_better_label() -> None:
    probabilities = np.array([[0.99, 0.01]] * 20 + [[0.01, 0.99]] * FEWEST)
    targets = np.array([0] * 20 + [1] * (FEWEST - 1) + [0])
    assert len(label_error_rows(targets, np.log(probabilities))) == 0


def test_nothing_is_found_in_nothing() -> None:
    assert len(label_error_rows(np.zeros(0, np.int64), np.zeros((0, 2)))) == 0
