"""Asking what torch does with the current call changes nothing."""

from __future__ import annotations

import pytest
import torch

from seqlab.cells.tracing import is_transformed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute")  # dynamo reads it at the graph break
def test_asking_while_compiling_leaves_no_vmap_behind() -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        y = 2 * x
        torch._dynamo.graph_break()
        return y if is_transformed() else y + 1

    x = torch.ones(3, requires_grad=True)
    torch.compile(double, backend="eager")(x).sum().backward()  # raised "backward() called inside torch.vmap"
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2, 2]
