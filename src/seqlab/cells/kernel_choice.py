"""Which kernel scans a cell: one in C++, torch's fused layer, or backpropagation through time by hand.

Cells only contain equations. All kernels give the same numbers; this module picks the fastest one, based on
measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.cells.activations import get_activation
from seqlab.cells.base import Cell, State
from seqlab.cells.coupled_lstm import CoupledLSTM
from seqlab.cells.fast.coupled_lstm import CoupledLSTMScan
from seqlab.cells.fast.full_peephole_lstm import FullPeepholeLSTMScan
from seqlab.cells.fast.gru import GRUScan, torch_scan
from seqlab.cells.fast.lstm import LSTMScan, fused_scan, padded_scan
from seqlab.cells.fast.min_gru import MinGRUScan
from seqlab.cells.fast.peephole_lstm import PeepholeLSTMScan
from seqlab.cells.fast.projected_lstm import ProjectedLSTMScan
from seqlab.cells.fast.reset_before_gru import ResetBeforeGRUScan
from seqlab.cells.fast.rnn import IN_PLACE_ACTIVATIONS, RNNScan, modrelu_, modrelu_derivative
from seqlab.cells.fast.single_gate import SingleGateScan
from seqlab.cells.gate_convention import weights_for_keep_old
from seqlab.cells.gru import GRU
from seqlab.cells.layer_norm_lstm import EPSILON, LayerNormLSTM
from seqlab.cells.lstm import LSTM
from seqlab.cells.min_gru import MinGRU
from seqlab.cells.native.layer_norm_lstm import NativeLayerNormLSTMScan
from seqlab.cells.native.library import native_kernels
from seqlab.cells.native.reset_before_gru import NativeResetBeforeGRUScan
from seqlab.cells.native.scan import NativeGRUScan, NativeLSTMScan
from seqlab.cells.orthogonal_rnn import OrthogonalRNN
from seqlab.cells.peephole_lstm import PeepholeLSTM
from seqlab.cells.projected_lstm import ProjectedLSTM
from seqlab.cells.reset_before_gru import ResetBeforeGRU
from seqlab.cells.rnn import RNN
from seqlab.cells.single_gate import SingleGate
from seqlab.cells.step_layout import StepLayout, apply_function

Rows = Float[Tensor, "rows input"]
ScanResult = tuple[Float[Tensor, "rows hidden"], State]
MIN_FILL_RATIO = 0.85
"""Minimum share of real steps in a padded batch for which torch's fused LSTM, padding included, is faster than
the hand-written scan over the real steps.
"""
MIN_KERNEL_STEPS = {"lstm": 48, "gru": 24}
"""Minimum number of steps of a full batch for which the C++ kernel is faster than torch's layer."""
MIN_PACKED_STEPS = {"training": 16, "inference": 24}
"""Minimum number of steps of packed sequences for which a scan (in inference, a C++ kernel) is faster than torch's
layer.
"""

Kernel = Callable[[Any, Rows, State, StepLayout], ScanResult | None]
_kernels: dict[type[Cell], Kernel] = {}


def fast_scan(cell: Cell, rows: Rows, state: State, layout: StepLayout) -> ScanResult | None:
    """The hidden state after every packed row and the last states, from the fastest kernel for this cell and
    batch; None if only the reference scan exists.

    A subclass may have changed the equations, so it has no kernel unless it registers one of its own.
    """
    kernel = _kernels.get(type(cell))
    return None if kernel is None else kernel(cell, rows, state, layout)


def kernel_beats_torch(
    cell: Literal["lstm", "gru"], *, num_steps: int, num_sequences: int, hidden_size: int
) -> bool:
    """Whether the C++ kernel was measured to be faster than torch's layer on a full batch
    (`python -m benchmarks.drop_in_layers`). A kernel prepares the recurrent matrix in every call, which a few
    steps do not repay; torch's LSTM is faster without gradients, and with few rows for a large matrix.
    """
    num_rows = num_steps * num_sequences
    if num_steps < MIN_KERNEL_STEPS[cell]:
        return False
    if cell == "gru":
        return torch.is_grad_enabled() or _repays_preparation(num_rows, hidden_size)
    return torch.is_grad_enabled() and num_sequences >= 32 and num_rows >= max(3000, 12 * hidden_size)


def packed_scan_beats_torch(*, has_kernel: bool, num_steps: int, num_rows: int, hidden_size: int) -> bool:
    """Whether a scan was measured to be faster than torch's layer on packed sequences: with gradients also the
    one in Python, because torch's time grows with the square of the number of steps; without, only a kernel.
    """
    if torch.is_grad_enabled():
        return num_steps >= MIN_PACKED_STEPS["training"]
    enough = num_steps >= MIN_PACKED_STEPS["inference"] and _repays_preparation(num_rows, hidden_size)
    return has_kernel and enough


def _repays_preparation(num_rows: int, hidden_size: int) -> bool:
    """Whether there are enough rows for a kernel's preparation of the recurrent matrix."""
    return 4 * num_rows >= hidden_size


def register_kernel(cell_type: type[Cell]) -> Callable[[Kernel], Kernel]:
    """Decorator that registers a function of a cell's rows, state and layout as the kernel of a class."""

    def register(kernel: Kernel) -> Kernel:
        _kernels[cell_type] = kernel
        return kernel

    return register


@register_kernel(LSTM)
def _scan_lstm(cell: LSTM, rows: Rows, state: State, layout: StepLayout) -> ScanResult | None:
    weights, is_tanh = (cell.input, cell.recurrent, cell.bias), cell.candidate == "tanh"
    can_fuse = is_tanh and rows.device.type == "cpu"
    fuses_faster = can_fuse and layout.is_full and not _beats_torch("lstm", layout, cell.hidden_size)
    if is_tanh and not fuses_faster and native_kernels(rows) is not None:
        return _outputs_and_state(NativeLSTMScan, rows, *weights, *state, None, layout, "lstm")
    if can_fuse and layout.is_full:
        outputs, *last = fused_scan(rows, weights, state, layout)
        return outputs, tuple(last)
    if can_fuse and layout.fill_ratio >= MIN_FILL_RATIO:
        outputs, *last = padded_scan(rows, weights, state, layout)
        return outputs, tuple(last)
    return _outputs_and_state(LSTMScan, rows, *weights, *state, layout, not is_tanh)


@register_kernel(CoupledLSTM)
def _scan_coupled_lstm(cell: CoupledLSTM, rows: Rows, state: State, layout: StepLayout) -> ScanResult | None:
    weights = (cell.input, cell.recurrent, cell.bias)
    if native_kernels(rows) is not None:
        return _outputs_and_state(NativeLSTMScan, rows, *weights, *state, None, layout, "coupled_lstm")
    return _outputs_and_state(CoupledLSTMScan, rows, *weights, *state, layout)


@register_kernel(PeepholeLSTM)
def _scan_peephole_lstm(
    cell: PeepholeLSTM, rows: Rows, state: State, layout: StepLayout
) -> ScanResult | None:
    weights, peepholes = (cell.input, cell.recurrent, cell.bias), cell.all_peepholes()
    sees_new = cell.output_gate_sees_new
    if cell.is_full:
        if sees_new and "output" in cell.peephole_gates:
            return None
        input_gate, forget_gate, output_gate = peepholes.split(cell.hidden_size)
        blind = torch.zeros_like(input_gate)  # the candidate sees no cell state
        matrices = torch.cat([input_gate, forget_gate, blind, output_gate])  # (4 * hidden, hidden)
        return _outputs_and_state(FullPeepholeLSTMScan, rows, *weights, *state, matrices, layout)
    if native_kernels(rows) is not None:
        kernel = "peephole_lstm_new" if sees_new else "peephole_lstm"
        return _outputs_and_state(NativeLSTMScan, rows, *weights, *state, peepholes, layout, kernel)
    return _outputs_and_state(PeepholeLSTMScan, rows, *weights, *state, peepholes, layout, sees_new)


@register_kernel(ProjectedLSTM)
def _scan_projected_lstm(
    cell: ProjectedLSTM, rows: Rows, state: State, layout: StepLayout
) -> ScanResult | None:
    weights = (cell.input, cell.recurrent, cell.bias, cell.projection)
    return _outputs_and_state(ProjectedLSTMScan, rows, *weights, *state, layout)


@register_kernel(LayerNormLSTM)
def _scan_layer_norm_lstm(
    cell: LayerNormLSTM, rows: Rows, state: State, layout: StepLayout
) -> ScanResult | None:
    if native_kernels(rows) is None:  # a backward pass by hand in Python was slower than autograd's
        return None
    weights = (cell.input, cell.recurrent, cell.bias)
    norms = (cell.input_gain, cell.recurrent_gain, cell.cell_gain, cell.cell_shift)
    return _outputs_and_state(NativeLayerNormLSTMScan, rows, *weights, *norms, *state, layout, EPSILON)


@register_kernel(GRU)
def _scan_gru(cell: GRU, rows: Rows, state: State, layout: StepLayout) -> ScanResult | None:
    weights = (*weights_for_keep_old(cell), cell.recurrent_bias)
    may_fuse = layout.is_full and not torch.is_grad_enabled()  # else torch's layer is slower than both scans
    fuses_faster = may_fuse and not _beats_torch("gru", layout, cell.hidden_size)
    if not fuses_faster and native_kernels(rows) is not None:
        return _outputs_and_state(NativeGRUScan, rows, *weights, *state, layout, "gru")
    if may_fuse:
        outputs, last = torch_scan(rows, *weights, state[0], layout)
        return outputs, (last,)
    return _outputs_and_state(GRUScan, rows, *weights, *state, layout)


@register_kernel(ResetBeforeGRU)
def _scan_reset_before_gru(
    cell: ResetBeforeGRU, rows: Rows, state: State, layout: StepLayout
) -> ScanResult | None:
    weight, recurrent, bias = weights_for_keep_old(cell)
    inside, outside = cell.split_bias(bias)
    if outside is None and cell.candidate == "tanh" and native_kernels(rows) is not None:
        return _outputs_and_state(NativeResetBeforeGRUScan, rows, weight, recurrent, inside, *state, layout)
    return _outputs_and_state(
        ResetBeforeGRUScan, rows, weight, recurrent, inside, outside, *state, layout, cell.candidate
    )


@register_kernel(SingleGate)
def _scan_single_gate(cell: SingleGate, rows: Rows, state: State, layout: StepLayout) -> ScanResult | None:
    weights = weights_for_keep_old(cell)
    if native_kernels(rows) is not None:
        return _outputs_and_state(NativeGRUScan, rows, *weights, None, *state, layout, "single_gate")
    return _outputs_and_state(SingleGateScan, rows, *weights, *state, layout)


@register_kernel(MinGRU)
def _scan_min_gru(cell: MinGRU, rows: Rows, state: State, layout: StepLayout) -> ScanResult | None:
    return _outputs_and_state(MinGRUScan, rows, cell.input, cell.bias, *state, layout)


@register_kernel(RNN)
def _scan_rnn(cell: RNN, rows: Rows, state: State, layout: StepLayout) -> ScanResult | None:
    if not isinstance(cell.activation, str):  # any function: its derivative is not known
        return None
    weights, derivative = (cell.input, cell.recurrent, cell.bias), get_activation(cell.activation).derivative
    activate = IN_PLACE_ACTIVATIONS[cell.activation]
    return _outputs_and_state(RNNScan, rows, *weights, *state, None, activate, derivative, layout)


@register_kernel(OrthogonalRNN)
def _scan_orthogonal_rnn(
    cell: OrthogonalRNN, rows: Rows, state: State, layout: StepLayout
) -> ScanResult | None:
    weights = (cell.input, cell.current_recurrent(), cell.bias)
    activate, derivative = (
        (modrelu_, modrelu_derivative)
        if cell.shift is not None
        else (IN_PLACE_ACTIVATIONS[cell.activation], get_activation(cell.activation).derivative)
    )
    return _outputs_and_state(RNNScan, rows, *weights, *state, cell.shift, activate, derivative, layout)


def _outputs_and_state(function: type[torch.autograd.Function], *args: object) -> ScanResult:
    outputs, *last = apply_function(function, *args)
    return outputs, tuple(last)


def _beats_torch(cell: Literal["lstm", "gru"], layout: StepLayout, hidden_size: int) -> bool:
    return kernel_beats_torch(
        cell,
        num_steps=len(layout.batch_sizes),
        num_sequences=layout.num_sequences,
        hidden_size=hidden_size,
    )
