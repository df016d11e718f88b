"""The moving ball: where it goes follows from two places, and from one place nothing does."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from seqlab.datasets.moving_ball import DIRECTIONS, NUM_POSITIONS, NUM_ROWS, ball_path_rows


@pytest.mark.spec(2)
def test_the_next_direction_follows_from_any_two_places_and_not_from_one() -> None:
    rows = ball_path_rows()
    steps = np.array([row["steps"] for row in rows])  # (rows, places, 2)
    assert steps.shape == (NUM_ROWS, NUM_POSITIONS, 2)
    assert np.allclose(np.diff(steps, n=2, axis=1), 0, atol=1e-12)  # straight, at constant speed
    moved = steps[:, -1] - steps[:, 2]
    eighths = np.round(np.arctan2(moved[:, 1], moved[:, 0]) / (2 * math.pi / 8)).astype(int) % 8
    labels = [row["next"] for row in rows]
    assert [DIRECTIONS[place] for place in eighths] == labels
    assert Counter(labels) == dict.fromkeys(DIRECTIONS, NUM_ROWS // 8)
    near = KNeighborsClassifier(25).fit(steps[: NUM_ROWS // 2, 0], labels[: NUM_ROWS // 2])
    assert near.score(steps[NUM_ROWS // 2 :, 0], labels[NUM_ROWS // 2 :]) == pytest.approx(1 / 8, abs=0.04)
