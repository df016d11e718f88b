"""Six forms of one network: the same outputs from each, and a reason where one cannot hold another."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch
from torch import Tensor, nn

from seqlab.cells.conversions.rnn_forms import (
    ClassSketch,
    OneBias,
    RNNForm,
    Separate,
    Stacked,
    Transposed,
    TwoBiases,
    convert_form,
)
from seqlab.cells.rnn import RNN
from seqlab.core.errors import UsageError

IN, HIDDEN, OUT = 3, 5, 2
FORMS: list[type[RNNForm]] = [Transposed, ClassSketch, Stacked, Separate, TwoBiases, OneBias]
WITH_OUTPUT = {Transposed, ClassSketch, Separate}
WITH_BIAS = {Stacked, Separate, TwoBiases, OneBias}
every_form = pytest.mark.parametrize("kind", FORMS, ids=lambda kind: kind.__name__)


def randn(*shape: int) -> Tensor:
    return 0.4 * torch.randn(
        *shape, generator=torch.Generator().manual_seed(sum(shape))
    )  # small enough that rounding does not grow from step to step


def example(kind: type[RNNForm], *, bias: bool = False) -> RNNForm:
    """Numbers of the form's own, as a book would give them; its biases zero unless wanted."""
    b, c = (randn(HIDDEN), randn(HIDDEN + 1)[1:]) if bias else (torch.zeros(HIDDEN), torch.zeros(HIDDEN))
    if kind is Transposed:
        return Transposed(W_hh=randn(HIDDEN, HIDDEN), W_xh=randn(IN, HIDDEN), W_hy=randn(HIDDEN, OUT))
    if kind is ClassSketch:
        return ClassSketch(W_xh=randn(HIDDEN, IN), W_hh=randn(HIDDEN, HIDDEN), W_hy=randn(OUT, HIDDEN))
    if kind is Stacked:
        return Stacked(W=randn(HIDDEN, HIDDEN + IN), b=b)
    if kind is Separate:
        b_o = randn(OUT) if bias else torch.zeros(OUT)
        return Separate(
            W_hh=randn(HIDDEN, HIDDEN), W_xh=randn(HIDDEN, IN), b_h=b, W_hy=randn(OUT, HIDDEN), b_o=b_o
        )
    if kind is TwoBiases:
        return TwoBiases(W_ih=randn(HIDDEN, IN), b_ih=b, W_hh=randn(HIDDEN, HIDDEN), b_hh=c)
    return OneBias(W=randn(HIDDEN, IN), U=randn(HIDDEN, HIDDEN), b=b)


def walk(form: RNNForm, steps: Tensor) -> tuple[Tensor | None, Tensor]:
    """All outputs (batch, time, output), where there are any, and all states (batch, time, hidden), from
    zeros.
    """
    h, outputs, states = torch.zeros(len(steps), HIDDEN), [], []
    for x in steps.unbind(1):
        y, h = form.step(x, h)
        outputs.append(y)
        states.append(h)
    shown = [y for y in outputs if y is not None]
    return torch.stack(shown, dim=1) if shown else None, torch.stack(states, dim=1)


STEPS = torch.randn(4, 6, IN, generator=torch.Generator().manual_seed(8))


@pytest.mark.spec(50, 51, 52, 53, 54, 55)
@every_form
def test_each_form_steps_as_its_equation_says_in_columns(kind: type[RNNForm]) -> None:
    form = example(kind, bias=True)
    x, h = randn(IN), randn(HIDDEN)
    expected_y: Tensor | None = None
    if isinstance(form, Transposed):  # the book's own line: vectors are columns
        expected = torch.tanh(form.W_hh.T @ h + form.W_xh.T @ x)
        expected_y = form.W_hy.T @ expected
    elif isinstance(form, ClassSketch):
        expected = torch.tanh(form.W_hh @ h + form.W_xh @ x)
        expected_y = form.W_hy @ expected
    elif isinstance(form, Stacked):
        expected = torch.tanh(form.W @ torch.cat([h, x]) + form.b)
    elif isinstance(form, Separate):
        expected = torch.tanh(form.W_hh @ h + form.W_xh @ x + form.b_h)
        expected_y = form.W_hy @ expected + form.b_o
    elif isinstance(form, TwoBiases):
        expected = torch.tanh(form.W_ih @ x + form.b_ih + form.W_hh @ h + form.b_hh)
    else:
        assert isinstance(form, OneBias)
        expected = torch.tanh(form.W @ x + form.U @ h + form.b)
    y, new = form.step(x.unsqueeze(0), h.unsqueeze(0))
    torch.testing.assert_close(new[0], expected)
    assert (y is None) == (expected_y is None)
    if y is not None and expected_y is not None:
        torch.testing.assert_close(y[0], expected_y)


@pytest.mark.spec(50, 51, 52, 53, 54, 55, 57)
@pytest.mark.parametrize("other", FORMS, ids=lambda kind: kind.__name__)
@every_form
def test_every_form_becomes_every_other_with_equal_outputs(kind: type[RNNForm], other: type[RNNForm]) -> None:
    form = example(kind, bias=kind in WITH_BIAS and other in WITH_BIAS)
    readout = form.to_output_layer() if kind in WITH_OUTPUT else nn.Linear(HIDDEN, OUT, bias=False)
    converted = other.from_cell(form.to_cell(), readout if other in WITH_OUTPUT else None)
    outputs, states = walk(form, STEPS)
    other_outputs, other_states = walk(converted, STEPS)
    torch.testing.assert_close(other_states, states, rtol=0, atol=1e-6)
    if outputs is not None and other_outputs is not None:
        torch.testing.assert_close(other_outputs, outputs, rtol=0, atol=1e-6)


@pytest.mark.spec(57)
@every_form
def test_every_form_becomes_torchs_layer_with_equal_outputs(kind: type[RNNForm]) -> None:
    form = example(kind, bias=kind in WITH_BIAS)
    _, states = walk(form, STEPS)
    layer = TwoBiases.from_cell(form.to_cell()).to_torch_layer()
    torch.testing.assert_close(layer(STEPS)[0], states, rtol=0, atol=1e-6)
    cell, h = form.to_cell(), (torch.zeros(4, HIDDEN),)
    for t, x in enumerate(STEPS.unbind(1)):
        hidden, h = cell(x, h)
        torch.testing.assert_close(hidden, states[:, t], rtol=0, atol=1e-6)


@pytest.mark.spec(57)
@pytest.mark.parametrize("bias", [True, False])
def test_torchs_layer_becomes_a_form(bias: bool) -> None:
    torch.manual_seed(4)
    layer = nn.RNN(IN, HIDDEN, batch_first=True, bias=bias)
    form = TwoBiases.from_torch_layer(layer)
    torch.testing.assert_close(walk(form, STEPS)[1], layer(STEPS)[0], rtol=0, atol=1e-6)
    torch.testing.assert_close(
        walk(convert_form(form, Stacked), STEPS)[1], layer(STEPS)[0], rtol=0, atol=1e-6
    )
    with torch.no_grad():
        layer.get_parameter("weight_hh_l0").zero_()
    assert form.W_hh.any(), "the form keeps its own numbers"


@every_form
def test_a_form_made_from_its_own_cell_is_itself(kind: type[RNNForm]) -> None:
    form = example(kind, bias=kind in WITH_BIAS and kind is not TwoBiases)  # two biases become their sum
    again = convert_form(form, kind)
    for field in fields(form):
        torch.testing.assert_close(getattr(again, field.name), getattr(form, field.name), rtol=0, atol=0)


@pytest.mark.spec(53)
def test_the_separate_form_has_exactly_three_matrices_and_two_biases() -> None:
    form = example(Separate, bias=True)
    dimensions = sorted(getattr(form, field.name).dim() for field in fields(form))
    assert dimensions == [1, 1, 2, 2, 2]


@pytest.mark.spec(51)
def test_the_sketch_starts_from_zero_and_its_printed_product_is_no_recurrence() -> None:
    square = ClassSketch(W_xh=randn(HIDDEN, HIDDEN), W_hh=randn(HIDDEN, HIDDEN), W_hy=randn(OUT, HIDDEN))
    x, h = randn(HIDDEN), square.zero_state(1)
    assert h.shape == (1, HIDDEN)
    assert not h.any()
    meant = square.step(x.unsqueeze(0), h + 0.5)[1]
    printed = square.printed_step(x.unsqueeze(1), (h + 0.5).T)
    assert printed.shape == (HIDDEN, HIDDEN), "the printed product turns the state into a matrix"
    for i in range(HIDDEN):
        for j in range(HIDDEN):
            assert printed[i, j].item() == pytest.approx(
                torch.tanh(square.W_hh[i, j] * 0.5 + square.W_xh[i, j] * x[i]).item(), abs=1e-6
            )
    assert not torch.allclose(printed.sum(dim=1), meant[0], atol=1e-2)
    assert "matrix products are meant" in (ClassSketch.__doc__ or "")


def test_a_bias_that_a_form_cannot_hold_is_refused() -> None:
    cell = example(OneBias, bias=True).to_cell()
    for kind in (Transposed, ClassSketch):
        with pytest.raises(UsageError, match=f"{kind.__name__} has no bias for the state") as error:
            kind.from_cell(cell, nn.Linear(HIDDEN, OUT, bias=False))
        assert "Separate, Stacked, TwoBiases or OneBias" in str(error.value)
        with pytest.raises(UsageError, match=f"{kind.__name__} has no bias for the output"):
            kind.from_cell(example(OneBias).to_cell(), nn.Linear(HIDDEN, OUT))


def test_an_output_layer_is_neither_dropped_nor_invented() -> None:
    separate = example(Separate, bias=True)
    for kind in (Stacked, TwoBiases, OneBias):
        with pytest.raises(UsageError, match=f"{kind.__name__} has no output layer") as error:
            convert_form(separate, kind)
        assert f"{kind.__name__}.from_cell(form.to_cell())" in str(error.value)
    for with_output in (Separate, Transposed, ClassSketch):
        with pytest.raises(UsageError, match=f"{with_output.__name__} needs an output layer"):
            convert_form(example(OneBias), with_output)


@every_form
def test_a_cell_with_another_activation_is_refused(kind: type[RNNForm]) -> None:
    readout = nn.Linear(HIDDEN, OUT, bias=False) if kind in WITH_OUTPUT else None
    with pytest.raises(UsageError, match=f"{kind.__name__} uses tanh, .*relu"):
        kind.from_cell(RNN(IN, HIDDEN, activation="relu"), readout)


def test_a_stack_of_torchs_layers_is_no_form() -> None:
    layer = nn.RNN(IN, HIDDEN, num_layers=2, bidirectional=True, nonlinearity="relu")
    with pytest.raises(UsageError, match=r"this nn\.RNN has 2 layers and two directions and relu"):
        TwoBiases.from_torch_layer(layer)
