"""Location and scale of a window by plain arithmetic."""

from __future__ import annotations

import pytest
import torch

from seqlab.blocks.window_scale import SMALLEST, WindowScale, last_known

WINDOW = torch.tensor([[[1.0, 5.0], [3.0, 5.0], [8.0, 5.0]]])


def test_location_and_scale_by_hand() -> None:
    is_known = torch.ones_like(WINDOW, dtype=torch.bool)
    deviation = pytest.approx((((1 - 4) ** 2 + (3 - 4) ** 2 + (8 - 4) ** 2) / 3) ** 0.5)
    location, scale = WindowScale("last")(WINDOW, is_known)
    assert location.tolist() == [[8.0, 5.0]]
    assert scale[0].tolist() == [deviation, pytest.approx(SMALLEST)]
    assert WindowScale("mean")(WINDOW, is_known)[0].tolist() == [[4.0, 5.0]]
    location, scale = WindowScale("none")(WINDOW, is_known)
    assert (location.tolist(), scale.tolist()) == ([[0.0, 0.0]], [[1.0, 1.0]])


def test_missing_values_do_not_count() -> None:
    is_known = torch.tensor([[[True, False], [True, False], [False, False]]])
    location, scale = WindowScale("last")(WINDOW, is_known)
    assert location.tolist() == [[3.0, 0.0]]
    assert scale[0, 0].item() == pytest.approx(1.0)
    assert WindowScale("mean")(WINDOW, is_known)[0][0, 0].item() == pytest.approx(2.0)
    assert last_known(WINDOW, is_known).tolist() == [[3.0, 0.0]]
