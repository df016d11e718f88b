"""Jacobians over a distance: measured, written out as a product, and bounded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.recurrent import build_stack
from seqlab.cells.base import cells
from seqlab.cells.rnn import RNN
from seqlab.core.errors import UsageError
from seqlab.inspection.jacobians import jacobian_norms, jacobians
from seqlab.inspection.rnn_jacobian import activation_slopes, norm_bound, rnn_jacobians
from seqlab.inspection.spectral_norm import product_norm, root_of_largest_eigenvalue, spectral_norm
from seqlab.inspection.unroll import unroll

IN, HIDDEN, TIME = 3, 5, 7


def some_steps(batch: int = 2, time: int = TIME) -> Tensor:
    return torch.randn(batch, time, IN, dtype=torch.float64, generator=torch.Generator().manual_seed(8))


def jacobian(function: Callable[[Tensor], Tensor], at: Tensor) -> np.ndarray:
    return torch.autograd.functional.jacobian(function, at).detach().numpy()


@pytest.mark.spec(86)
@pytest.mark.parametrize(
    "make", [lambda: nn.RNN(IN, HIDDEN, batch_first=True), lambda: RNN(IN, HIDDEN)], ids=["torch", "seqlab"]
)
def test_the_product_over_the_steps_equals_autograd_at_every_distance(
    make: Callable[[], nn.RNN | RNN],
) -> None:
    torch.manual_seed(3)
    unrolled = unroll(make().double(), some_steps(), [7, 4])
    written, measured = rnn_jacobians(unrolled), jacobians(unrolled)
    np.testing.assert_allclose(written, measured, rtol=0, atol=1e-14)
    assert np.isnan(written[1, 4:]).all()
    assert np.isfinite(written[1, :4]).all()
    np.testing.assert_allclose(written[0, 0], np.eye(HIDDEN))


@pytest.mark.spec(86)
def test_the_product_is_that_of_the_lecture_in_plain_numbers() -> None:
    torch.manual_seed(3)
    layer = nn.RNN(IN, HIDDEN, batch_first=True).double()
    steps = some_steps(batch=1)
    hidden = layer(steps)[0][0].detach().numpy()
    transposed = np.eye(
        HIDDEN
    )  # Π Uᵀ diag(tanh′(a_t)) from the earliest step to the last, applied to a gradient at the end
    for time in range(TIME - 4, TIME):
        transposed = transposed @ layer.weight_hh_l0.detach().numpy().T @ np.diag(1 - hidden[time] ** 2)
    unrolled = unroll(layer, steps)
    np.testing.assert_allclose(jacobians(unrolled)[0, 4], transposed.T, rtol=0, atol=1e-14)
    line = jacobian_norms(unrolled).table()[4]
    assert line["distance"] == 4
    assert line["mean"] == pytest.approx(np.linalg.svd(transposed)[1][0])


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_gated_jacobians_are_those_of_the_rest_of_the_walk(name: str) -> None:
    torch.manual_seed(6)
    layer = (nn.LSTM if name == "lstm" else nn.GRU)(IN, HIDDEN, batch_first=True).double()
    steps = some_steps(batch=1)
    unrolled = unroll(layer, steps)
    for distance in (1, 3, 6):
        cut = TIME - distance
        _, state = layer(steps[:, :cut])
        if name == "gru":
            expected = jacobian(lambda hidden, at=cut: layer(steps[:, at:], hidden)[1].flatten(), state)
            np.testing.assert_allclose(
                jacobians(unrolled)[0, distance], expected[:, 0, 0], rtol=0, atol=1e-13
            )
            continue
        hidden, memory = state
        of_hidden = jacobian(
            lambda moved, at=cut, c=memory: layer(steps[:, at:], (moved, c))[1][0].flatten(), hidden
        )
        np.testing.assert_allclose(jacobians(unrolled)[0, distance], of_hidden[:, 0, 0], rtol=0, atol=1e-13)
        output_gate = hidden / torch.tanh(memory)
        of_memory = jacobian(
            lambda moved, at=cut, e=output_gate: layer(steps[:, at:], (e * torch.tanh(moved), moved))[1][
                1
            ].flatten(),
            memory,
        )
        np.testing.assert_allclose(
            jacobians(unrolled, "memory")[0, distance], of_memory[:, 0, 0], rtol=0, atol=1e-13
        )


def test_the_backward_direction_counts_from_its_own_end() -> None:
    torch.manual_seed(7)
    both = nn.GRU(IN, HIDDEN, bidirectional=True).double()
    steps = some_steps(batch=1)
    onward = nn.GRU(IN, HIDDEN).double()
    onward.load_state_dict(
        {
            name.removesuffix("_reverse"): value
            for name, value in both.state_dict().items()
            if name.endswith("_reverse")
        }
    )
    backward = jacobian_norms(unroll(both, steps), reverse=True)
    np.testing.assert_allclose(backward.norms, jacobian_norms(unroll(onward, steps.flip(1))).norms)


def test_lower_layers_and_ragged_rows_are_measured_by_themselves() -> None:
    stack = build_stack(IN, cells.get("rnn"), [4, HIDDEN]).double()
    steps = some_steps()
    ragged = jacobian_norms(unroll(stack, steps, [3, 7]), layer=0)
    alone = jacobian_norms(unroll(stack, steps[:1, :3]), layer=0)
    np.testing.assert_allclose(ragged.norms[0, :3], alone.norms[0])
    assert np.isnan(ragged.norms[0, 3:]).all()
    assert ragged.layer == 0


@pytest.mark.spec(93)
def test_the_derivative_of_one_unit_is_the_product_of_its_factors() -> None:
    torch.manual_seed(1)
    layer = nn.RNN(IN, 1, batch_first=True).double()
    steps = some_steps(batch=1)
    met = activation_slopes(unroll(layer, steps))[0, :, 0]
    assert ((met > 0) & (met <= 1)).all()

    def last(start: float) -> float:
        return layer(steps, torch.full((1, 1, 1), start, dtype=torch.float64))[0][0, -1].item()

    measured = (last(1e-5) - last(-1e-5)) / 2e-5
    assert np.prod(layer.weight_hh_l0.item() * met) == pytest.approx(measured, rel=1e-6)


@pytest.mark.spec(93)
def test_a_slope_of_tanh_is_one_at_zero_only_and_rounds_to_zero_far_out() -> None:
    cell = RNN(1, 1, bias=False).double()
    with torch.no_grad():
        cell.input.fill_(1.0)
        cell.recurrent.fill_(0.0)
    met = activation_slopes(
        unroll(cell, torch.tensor([[[0.0], [1.0], [-3.0], [30.0]]], dtype=torch.float64))
    )[0, :, 0]
    np.testing.assert_allclose(met, [1.0, 1 - np.tanh(1) ** 2, 1 - np.tanh(3) ** 2, 0.0])


@pytest.mark.spec(94)
def test_the_spectral_norm_is_the_largest_singular_value_and_the_root_of_an_eigenvalue() -> None:
    random = np.random.default_rng(0)
    for shape in ((3, 5), (5, 5), (7, 3)):
        matrix = random.normal(size=shape)
        norm = float(spectral_norm(matrix))
        assert norm == pytest.approx(np.linalg.svd(matrix)[1].max(), rel=1e-12)
        assert norm == pytest.approx(root_of_largest_eigenvalue(matrix), rel=1e-12)
        vectors = random.normal(size=(shape[1], 20_000))
        stretched = np.linalg.norm(matrix @ vectors, axis=0) / np.linalg.norm(vectors, axis=0)
        assert 0.8 * norm < stretched.max() <= norm * (1 + 1e-12)


@pytest.mark.spec(94)
def test_the_norm_of_a_product_is_never_more_than_the_product_of_norms() -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        found = product_norm(list(random.normal(size=(4, 3, 3))))
        assert found.norm_of_product <= found.product_of_norms
    stretch = np.diag([1.0, 3.0])
    assert product_norm([stretch] * 4).norm_of_product == pytest.approx(
        product_norm([stretch] * 4).product_of_norms
    )
    assert product_norm([stretch]).norm_of_product == 3


@pytest.mark.spec(94)
@pytest.mark.parametrize("gain", [0.5, 1.0, 2.0])
def test_the_real_norm_stays_below_the_power_of_slope_times_singular_value(gain: float) -> None:
    torch.manual_seed(2)
    layer = nn.RNN(IN, HIDDEN, batch_first=True).double()
    with torch.no_grad():
        layer.weight_hh_l0.copy_(gain * torch.linalg.qr(torch.randn(HIDDEN, HIDDEN, dtype=torch.float64))[0])
    bound = norm_bound(unroll(layer, some_steps(), [7, 5]))
    assert bound.spectral_norm == pytest.approx(gain)
    assert 0 < bound.largest_slope <= 1
    assert bound.factor == pytest.approx(gain * bound.largest_slope)
    np.testing.assert_allclose(bound.bounds, [bound.factor**distance for distance in range(TIME)])
    for line in bound.table():
        assert line["norm"] <= line["bound"] * (1 + 1e-12)
    np.testing.assert_allclose(bound.norms, jacobian_norms(unroll(layer, some_steps(), [7, 5])).norms)


@pytest.mark.spec(94)
def test_the_bound_is_reached_by_a_linear_network_with_an_orthogonal_matrix() -> None:
    cell = RNN(IN, HIDDEN, activation="identity").double()
    with torch.no_grad():
        cell.recurrent.copy_(1.2 * torch.linalg.qr(torch.randn(HIDDEN, HIDDEN, dtype=torch.float64))[0])
    bound = norm_bound(unroll(cell, some_steps()))
    np.testing.assert_allclose(bound.norms, np.tile(1.2 ** np.arange(TIME), (2, 1)))
    np.testing.assert_allclose(bound.bounds, 1.2 ** np.arange(TIME))


def test_an_orthogonal_cell_has_a_matrix_of_norm_one() -> None:
    bound = norm_bound(unroll(cells.get("orthogonal_rnn")(IN, HIDDEN).double(), some_steps()))
    assert bound.spectral_norm == pytest.approx(1.0)


def test_questions_that_a_cell_cannot_answer_are_refused() -> None:
    gru = unroll(nn.GRU(IN, HIDDEN).double(), some_steps())
    with pytest.raises(UsageError, match=r'GRU has no cell state\.\n.*part="hidden"'):
        jacobians(gru, "memory")
    with pytest.raises(UsageError, match=r"GRU .*activation"):
        norm_bound(gru)
