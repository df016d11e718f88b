"""Two directions become one: values worked out by hand."""

from __future__ import annotations

import pytest
import torch

from seqlab.blocks.merge import MERGES, LearnedMerge

ONWARD, BACKWARD = (
    torch.tensor([[1.0, -2.0], [3.0, 4.0], [0.0, 1.0]]),
    torch.tensor([[5.0, 6.0], [-7.0, 8.0], [2.0, 0.5]]),
)


@pytest.mark.spec(79)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("concat", [[1, -2, 5, 6], [3, 4, -7, 8], [0, 1, 2, 0.5]]),
        ("mean", [[3, 2], [-2, 6], [1, 0.75]]),
        ("sum", [[6, 4], [-4, 12], [2, 1.5]]),
    ],
)
def test_directions_are_put_side_by_side_averaged_or_added(name: str, expected: list[list[float]]) -> None:
    merge = MERGES[name](2)
    assert merge(ONWARD, BACKWARD).tolist() == expected
    assert merge.output_size == len(expected[0])


@pytest.mark.spec(79)
def test_a_learned_merge_is_a_linear_map_of_both() -> None:
    merge = LearnedMerge(2)
    merge.load_state_dict(
        {
            "project.weight": torch.tensor([[1.0, 2.0, 3.0, 4.0], [0.0, -1.0, 0.0, 1.0]]),
            "project.bias": torch.tensor([0.5, -0.5]),
        }
    )
    expected = [
        [1 - 4 + 15 + 24 + 0.5, 2 + 6 - 0.5],
        [3 + 8 - 21 + 32 + 0.5, -4 + 8 - 0.5],
        [2 + 6 + 2 + 0.5, -1 + 0.5 - 0.5],
    ]
    assert merge(ONWARD, BACKWARD).tolist() == expected
    assert merge.output_size == 2


def test_a_learned_merge_can_become_each_of_the_others_of_its_width() -> None:
    merge = LearnedMerge(2)
    half = torch.eye(2) / 2
    merge.load_state_dict({"project.weight": torch.cat([half, half], dim=1), "project.bias": torch.zeros(2)})
    torch.testing.assert_close(merge(ONWARD, BACKWARD), MERGES["mean"](2)(ONWARD, BACKWARD))
