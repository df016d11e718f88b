from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn

from seqlab.core.errors import RecipeError
from seqlab.training.tensor_shapes import shapes_of


def build() -> nn.Module:
    return nn.ModuleDict(
        {
            "embed": nn.Embedding(7, 5),
            "layers": nn.LSTM(5, 3, num_layers=2),
            "norm": nn.LayerNorm(3),
            "head": nn.Linear(3, 2),
        }
    )


def test_names_and_shapes_are_those_of_the_real_model() -> None:
    shapes = shapes_of(build)
    assert {name: (tensor.shape, tensor.dtype) for name, tensor in shapes.items()} == {
        name: (tensor.shape, tensor.dtype) for name, tensor in build().state_dict().items()
    }
    assert {tensor.device.type for tensor in shapes.values()} == {"meta"}


def test_random_numbers_are_left_as_they_were_and_drawn_again_afterwards() -> None:
    before = torch.get_rng_state()
    shapes_of(build)
    assert torch.get_rng_state().equal(before)
    assert nn.Embedding(7, 5).weight.std() > 0


def test_a_model_that_would_not_fit_any_memory_costs_nothing() -> None:
    assert shapes_of(lambda: nn.Linear(10**9, 10**8))["weight"].shape == (10**8, 10**9)


@pytest.mark.parametrize("size", [10**12, 10**30])
def test_a_model_whose_size_cannot_be_counted_is_refused(size: int) -> None:
    with pytest.raises(RecipeError, match=r"^model: .*size"):
        shapes_of(lambda: nn.Linear(size, size))


@pytest.mark.slow
def test_torchs_compiler_is_not_imported() -> None:
    code = (
        "import sys; from torch import nn; from seqlab.training.tensor_shapes import shapes_of;"
        "shapes_of(lambda: nn.Embedding(3, 2)); sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
