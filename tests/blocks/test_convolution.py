"""A convolution over time: a neighbourhood and nothing else."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.convolution import ConvolutionLayer

SIZE = 3
SHAPES = [(1, 1), (2, 1), (3, 1), (3, 4), (5, 2)]  # kernel, dilation
LENGTHS = [9, 4, 1]


def build(kernel_size: int, dilation: int, *, causal: bool) -> ConvolutionLayer:
    torch.manual_seed(4)
    layer = ConvolutionLayer(
        SIZE, kernel_size=kernel_size, dilation=dilation, causal=causal, dropout=0.0
    ).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.7)
    return layer


def ragged() -> tuple[Tensor, Tensor]:
    steps = torch.randn(3, 9, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    is_token = torch.arange(9) < torch.tensor(LENGTHS)[:, None]
    return steps.masked_fill(~is_token.unsqueeze(-1), 50.0), is_token


def by_hand(layer: ConvolutionLayer, sequence: Tensor) -> Tensor:
    """The equation for one whole sequence (time, hidden), tap by tap."""
    normed = F.layer_norm(sequence, (SIZE,), layer.norm.weight, layer.norm.bias)
    kernel = layer.convolve.weight  # (out, in, kernel)
    taps, (dilation,) = kernel.shape[2], layer.convolve.dilation
    rows = []
    for t in range(len(sequence)):
        total = layer.convolve.bias
        for tap in range(taps):
            seen = t + (tap - (taps - 1 if layer.causal else taps // 2)) * dilation
            if 0 <= seen < len(sequence):
                total = total + kernel[:, :, tap] @ normed[seen]
        rows.append(sequence[t] + layer.mix.weight @ F.gelu(total) + layer.mix.bias)
    return torch.stack(rows)


@pytest.mark.parametrize(
    ("kernel_size", "dilation", "causal"),
    [(*shape, True) for shape in SHAPES] + [(*shape, False) for shape in SHAPES if shape[0] % 2],
)
def test_it_follows_the_equation_for_each_sequence_alone(
    kernel_size: int, dilation: int, causal: bool
) -> None:
    layer = build(kernel_size, dilation, causal=causal)
    steps, is_token = ragged()
    outputs, _ = layer(steps, is_token)
    for row, length in enumerate(LENGTHS):
        torch.testing.assert_close(
            outputs[row, :length], by_hand(layer, steps[row, :length]), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize(("kernel_size", "dilation"), SHAPES)
def test_a_causal_step_sees_exactly_its_taps(kernel_size: int, dilation: int) -> None:
    layer = build(kernel_size, dilation, causal=True)
    steps = torch.randn(1, 12, SIZE, dtype=torch.float64, requires_grad=True)
    outputs, _ = layer(steps, torch.ones(1, 12, dtype=torch.bool))
    (reach,) = torch.autograd.grad(outputs[0, 11].square().sum(), steps)
    seen = {t for t in range(12) if reach[0, t].abs().sum() > 0}
    assert seen == {11 - tap * dilation for tap in range(kernel_size) if 11 - tap * dilation >= 0}
    assert layer.context_size == (kernel_size - 1) * dilation


@pytest.mark.parametrize("pieces", [[1] * 9, [4, 5], [2, 6, 1]])
@pytest.mark.parametrize(("kernel_size", "dilation"), SHAPES)
def test_pieces_with_the_state_equal_the_whole(kernel_size: int, dilation: int, pieces: list[int]) -> None:
    layer = build(kernel_size, dilation, causal=True)
    steps = torch.randn(2, 9, SIZE, dtype=torch.float64)
    all_real = torch.ones(2, 9, dtype=torch.bool)
    whole, last = layer(steps, all_real)
    left_context, found = None, []
    for piece, real in zip(steps.split(pieces, dim=1), all_real.split(pieces, dim=1), strict=True):
        outputs, left_context = layer(piece, real, left_context)
        found.append(outputs)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=1e-12)
    assert left_context is not None
    torch.testing.assert_close(left_context, last, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("kernel_size", "dilation"), SHAPES)
def test_ragged_pieces_go_on_from_each_sequences_own_last_step(kernel_size: int, dilation: int) -> None:
    layer = build(kernel_size, dilation, causal=True)
    first, first_real = ragged()
    second = torch.randn(3, 3, SIZE, dtype=torch.float64)
    _, left_context = layer(first, first_real)
    outputs, _ = layer(second, torch.ones(3, 3, dtype=torch.bool), left_context)
    for row, length in enumerate(LENGTHS):
        expected = by_hand(layer, torch.cat([first[row, :length], second[row]]))[length:]
        torch.testing.assert_close(outputs[row], expected, rtol=0, atol=1e-12)


def test_gradients_are_right() -> None:
    layer = build(3, 2, causal=True)
    steps, is_token = ragged()
    assert torch.autograd.gradcheck(
        lambda x: layer(x, is_token[:, :4])[0], steps[:, :4].clone().requires_grad_()
    )
