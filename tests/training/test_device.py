from __future__ import annotations

import pytest
import torch

from seqlab.core.errors import RecipeError
from seqlab.training.device import choose_device, use_threads
from seqlab.training.settings import TrainingSettings


@pytest.mark.spec(99)
@pytest.mark.parametrize(
    ("has_cuda", "has_mps", "expected"),
    [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_auto_takes_a_gpu_when_there_is_one(
    has_cuda: bool, has_mps: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)
    assert choose_device(TrainingSettings()) == torch.device(expected)


@pytest.mark.parametrize("name", ["cuda:7", "toaster", "meta:x", ""])
def test_a_device_that_is_not_there_is_refused_with_what_can_be_used(name: str) -> None:
    with pytest.raises(RecipeError, match=rf"(?s)training.device: '{name}' .*auto or cpu"):
        choose_device(TrainingSettings(device=name))


def test_threads_are_set_and_zero_keeps_what_is_in_use() -> None:
    before = torch.get_num_threads()
    try:
        assert use_threads(1) == 1
        assert use_threads(0) == 1
    finally:
        torch.set_num_threads(before)
