"""A PackedSequence, a state or a weight that does not fit is an error of torch's own type, with kernels and
without.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import Parameter
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from seqlab import nn
from seqlab.blocks.scan import scan
from seqlab.cells.base import cells
from seqlab.cells.step_layout import Packing
from seqlab.core.errors import UsageError
from tests.check_each import check_each

pytestmark = pytest.mark.usefixtures("either_way")

IN, HIDDEN = 4, 6
CHOICES = [
    "rnn",
    "lstm",
    "gru",
    "peephole_lstm",
    "coupled_lstm",
    "layer_norm_lstm",
    "reset_before_gru",
    "single_gate",
    "min_gru",
]


def packed(rows: int, sizes: Any, **order: Tensor) -> PackedSequence:
    steps = torch.randn(rows, IN, generator=torch.Generator().manual_seed(rows))
    return PackedSequence(steps, sizes if isinstance(sizes, Tensor) else torch.tensor(sizes), **order)


PACKED: dict[str, Callable[[], PackedSequence]] = {
    "fewer rows than steps": lambda: packed(3, [3, 3]),
    "increasing": lambda: packed(6, [2, 4]),
    "negative": lambda: packed(6, [3, 4, -1]),
    "no step": lambda: packed(0, torch.zeros(0, dtype=torch.int64)),
    "no axis": lambda: packed(3, torch.tensor(3)),
    "fractions": lambda: packed(6, [3.0, 3.0]),
    "two axes": lambda: packed(6, [[3, 3]]),
    "narrow numbers": lambda: packed(6, torch.tensor([3, 3], dtype=torch.int32)),
    "no features": lambda: PackedSequence(torch.randn(6), torch.tensor([3, 3])),
}
ORDERS = {"too short": [1], "too long": [0, 1, 2, 0], "beyond the batch": [0, 1, 3]}
WEIGHTS: dict[str, tuple[int, ...]] = {
    "weight_hh_l0": (3, 1),
    "weight_hh_l1": (3 * HIDDEN, HIDDEN + 1),
    "weight_ih_l0": (IN, 3 * HIDDEN),
    "weight_ih_l1": (3 * HIDDEN + 1, HIDDEN),
    "bias_ih_l0": (3 * HIDDEN + 1,),
    "bias_hh_l1": (2,),
}


def error_of(act: Callable[[], Any]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one it is, torch decides
        act()
    return caught.value


@pytest.mark.parametrize("kind", ["RNN", "GRU"])
@pytest.mark.parametrize("mistake", PACKED)
def test_what_was_packed_by_hand_is_refused_as_torch_refuses_it(kind: str, mistake: str) -> None:
    theirs = error_of(lambda: getattr(torch.nn, kind)(IN, HIDDEN)(PACKED[mistake]()))
    assert type(error_of(lambda: getattr(nn, kind)(IN, HIDDEN)(PACKED[mistake]()))) is type(theirs)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("fast", [True, False])
def test_every_cell_refuses_what_was_packed_wrong(choice: str, fast: bool) -> None:
    layer = (nn.LSTM if cells.get(choice).num_state_tensors == 2 else nn.GRU)(
        IN, HIDDEN, cell=choice, fast=fast
    )

    def is_refused(mistake: str) -> None:
        with pytest.raises((RuntimeError, TypeError, IndexError)):
            layer(PACKED[mistake]())

    check_each(PACKED, is_refused)


@pytest.mark.parametrize("rows", [3, 9])
@pytest.mark.parametrize("choice", CHOICES)
def test_rows_that_do_not_fit_the_steps_are_refused_with_both_numbers(choice: str, rows: int) -> None:
    """torch leaves out those that belong to no step; they would come back as whatever memory held."""
    layer = (nn.LSTM if cells.get(choice).num_state_tensors == 2 else nn.GRU)(IN, HIDDEN, cell=choice)
    with pytest.raises(RuntimeError, match=rf"6 .*{rows}"):
        layer(packed(rows, [3, 3]))


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("sizes", [[3, 2, 0], [3, 2, 0, 0], [0, 0]], ids=str)
def test_steps_of_nobody_are_what_they_are_in_torch(kind: str, sizes: list[int], bidirectional: bool) -> None:
    theirs = getattr(torch.nn, kind)(IN, HIDDEN, bidirectional=bidirectional)
    ours = getattr(nn, kind)(IN, HIDDEN, bidirectional=bidirectional)
    ours.load_state_dict(theirs.state_dict())
    found, expected = ours(packed(sum(sizes), sizes)), theirs(packed(sum(sizes), sizes))
    torch.testing.assert_close(found[0].data, expected[0].data)
    torch.testing.assert_close(found[1], expected[1])


@pytest.mark.parametrize("order", ORDERS)
def test_a_wrong_order_of_the_batch_is_refused_as_torch_refuses_it(order: str) -> None:
    given = packed(
        6, [3, 3], sorted_indices=torch.tensor(ORDERS[order]), unsorted_indices=torch.tensor([0, 1, 2])
    )
    state = torch.zeros(1, 3, HIDDEN)
    theirs = error_of(lambda: torch.nn.GRU(IN, HIDDEN)(given, state))
    ours = error_of(lambda: nn.GRU(IN, HIDDEN)(given, state))
    assert (type(ours), str(ours)) == (type(theirs), str(theirs))


@pytest.mark.parametrize("form", ["batch", "packed"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_a_weight_of_another_shape_is_refused_as_torch_refuses_it(name: str, form: str) -> None:
    given: Any = (
        torch.randn(5, 2, IN) if form == "batch" else pack_sequence([torch.randn(5, IN), torch.randn(2, IN)])
    )
    layers = [module.GRU(IN, HIDDEN, 2) for module in (torch.nn, nn)]
    for layer in layers:
        setattr(layer, name, Parameter(torch.randn(WEIGHTS[name])))
    theirs, ours = (error_of(lambda layer=layer: layer(given)) for layer in layers)  # type: ignore[misc]
    assert type(ours) is type(theirs)
    assert name in str(ours)
    assert str(list(WEIGHTS[name])) in str(ours)


@pytest.mark.parametrize("form", ["batch", "packed"])
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("choice", CHOICES)
def test_every_weight_of_every_cell_is_looked_at(choice: str, fast: bool, form: str) -> None:
    """torch's own LSTM does not look: it answers from foreign memory."""
    given: Any = (
        torch.randn(5, 2, IN) if form == "batch" else pack_sequence([torch.randn(5, IN), torch.randn(2, IN)])
    )
    kind = nn.LSTM if cells.get(choice).num_state_tensors == 2 else nn.RNN if choice == "rnn" else nn.GRU
    for name, weight in kind(IN, HIDDEN, cell=choice).named_parameters():
        for wrong in (weight[:-1], weight.unsqueeze(0), torch.cat([weight, weight]), weight.double()):
            layer = kind(IN, HIDDEN, cell=choice, fast=fast)
            setattr(layer, name, Parameter(wrong.detach()))
            with pytest.raises((RuntimeError, ValueError)) as caught:
                layer(given)
            assert name in str(caught.value) or "weight dtype" in str(caught.value)


@pytest.mark.parametrize("name", ["bias_ih_l0", "bias_hh_l0"])
def test_a_sparse_bias_is_refused_as_torch_refuses_it(name: str) -> None:
    packed, layers = (
        pack_sequence([torch.randn(5, IN), torch.randn(2, IN)]),
        [module.LSTM(IN, HIDDEN) for module in (torch.nn, nn)],
    )
    for layer in layers:
        setattr(layer, name, Parameter(getattr(layer, name).detach().to_sparse()))
    theirs, ours = (error_of(lambda layer=layer: layer(packed)) for layer in layers)  # type: ignore[misc]
    assert type(ours) is type(theirs)


@pytest.mark.parametrize(
    "choice", [name for name in CHOICES if name.startswith(("lstm", "peep", "coupled", "layer"))]
)
def test_gains_and_peepholes_of_any_stride_are_read_as_they_are(choice: str) -> None:
    layer, given = nn.LSTM(IN, HIDDEN, cell=choice), pack_sequence([torch.randn(5, IN), torch.randn(2, IN)])
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn_like(parameter))
        expected = layer(given)[0].data
    for name, weight in list(layer.named_parameters()):
        strided = torch.randn(*weight.shape, 2)[..., 0].copy_(weight.detach())
        assert not strided.is_contiguous()
        setattr(layer, name, Parameter(strided))
    found = layer(given)[0].data
    torch.testing.assert_close(found.detach(), expected)
    gradients = torch.autograd.grad(found.sum(), list(layer.parameters()))
    assert all(
        gradient.shape == parameter.shape
        for gradient, parameter in zip(gradients, layer.parameters(), strict=True)
    )


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("choice", CHOICES)
def test_a_walk_looks_at_rows_states_and_matrices(choice: str, fast: bool) -> None:
    cell, layout = cells.get(choice)(IN, HIDDEN), Packing((3, 2), None, 2).layout()
    rows, state = torch.randn(5, IN), cell.zero_state(torch.zeros(3, 1))

    def go(rows: Tensor, state: tuple[Tensor, ...], **weights: Tensor) -> None:
        with pytest.raises(RuntimeError if weights and choice != "lstm" else (UsageError, RuntimeError)):
            scan(cell.with_weights(weights), rows, state, layout, fast=fast)

    go(torch.randn(4, IN), state)
    go(torch.randn(6, IN), state)
    go(torch.randn(5, IN + 1), state)
    go(rows, tuple(part[:2] for part in state))
    go(rows, tuple(part[:, 1:] for part in state))
    go(rows, state, input=torch.randn(3, 1))
    go(rows, state, bias=torch.randn(2))
    if cell.recurrent is not None:
        go(rows, state, recurrent=torch.randn(3, 1))
