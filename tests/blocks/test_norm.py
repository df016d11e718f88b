"""LayerNorm and RMSNorm against plain arithmetic, against other people's layers, and how their slope falls
with the size of a step.
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn
from transformers.models.llama.modeling_llama import LlamaRMSNorm

from seqlab.blocks.norm import NormKind, build_norm

SIZE, EPS = 7, 0.01
both_kinds = pytest.mark.parametrize("kind", ["layer", "rms"])


def build(kind: NormKind) -> nn.Module:
    """Gain and shift random, so that neither hides behind a one or a zero."""
    torch.manual_seed(2)
    norm = build_norm(kind, SIZE, eps=EPS).double()
    for parameter in norm.parameters():
        nn.init.normal_(parameter)
    return norm


def random_steps() -> Tensor:
    return 0.5 + torch.randn(3, 5, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@both_kinds
def test_it_follows_its_equation(kind: NormKind) -> None:
    norm, steps = build(kind), random_steps()
    gain = norm.weight.tolist()
    shift = norm.bias.tolist() if kind == "layer" else [0.0] * SIZE
    for row, t in ((0, 0), (1, 4), (2, 2)):
        values = steps[row, t].tolist()
        mean = sum(values) / SIZE if kind == "layer" else 0.0
        size = math.sqrt(sum((value - mean) ** 2 for value in values) / SIZE + EPS)
        expected = [g * (value - mean) / size + b for value, g, b in zip(values, gain, shift, strict=True)]
        assert norm(steps)[row, t].tolist() == pytest.approx(expected, abs=1e-12)


def test_the_root_mean_square_is_that_of_llama() -> None:
    norm, steps = build("rms").float(), random_steps().float()  # theirs always computes in float32
    twin = LlamaRMSNorm(SIZE, eps=EPS)
    twin.load_state_dict(norm.state_dict())
    torch.testing.assert_close(norm(steps), twin(steps), rtol=0, atol=1e-6)


@pytest.mark.spec(164)
@both_kinds
def test_a_step_is_normalised_by_itself_whatever_stands_beside_it(kind: NormKind) -> None:
    norm, steps = build(kind), random_steps()
    changed = 100 * steps + 3
    changed[1, 2] = steps[1, 2]
    torch.testing.assert_close(norm(changed)[1, 2], norm(steps)[1, 2], rtol=0, atol=1e-14)
    torch.testing.assert_close(norm(steps[1:2, 2:3])[0, 0], norm(steps)[1, 2], rtol=0, atol=1e-14)


def test_layer_norm_forgets_a_shift_and_the_root_mean_square_does_not() -> None:
    steps = random_steps()
    layer, rms = build("layer"), build("rms")
    torch.testing.assert_close(layer(steps + 3), layer(steps), rtol=0, atol=1e-12)
    assert (rms(steps + 3) - rms(steps)).abs().max() > 0.1


@both_kinds
def test_both_forget_the_size_of_a_step(kind: NormKind) -> None:
    norm = build_norm(kind, SIZE, eps=1e-12).double()
    steps = random_steps()
    torch.testing.assert_close(norm(1000 * steps), norm(steps), rtol=0, atol=1e-9)


def jacobian_norm(kind: NormKind, step: Tensor) -> float:
    """The largest stretch: the greatest singular value of the derivative."""
    norm = build_norm(kind, len(step), eps=1e-12).double()
    jacobian = torch.autograd.functional.jacobian(norm, step)
    assert isinstance(jacobian, Tensor)
    return torch.linalg.matrix_norm(jacobian, ord=2).item()


def slope(xs: list[float], ys: list[float]) -> float:
    """Of the straight line through the logarithms."""
    xs, ys = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / sum(
        (x - mean_x) ** 2 for x in xs
    )


@pytest.mark.spec(105)
@both_kinds
def test_the_slope_of_a_norm_is_the_root_of_the_width_over_the_length_of_the_step(kind: NormKind) -> None:
    """‖J‖ = √D / ‖x‖: log ‖J‖ falls with slope -1 in log ‖x‖ and rises with slope 1/2 in log D."""
    direction = torch.randn(64, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    direction = (direction - direction.mean()) / (direction - direction.mean()).norm()
    lengths = [0.5, 2.0, 8.0, 32.0]
    by_length = [jacobian_norm(kind, length * direction) for length in lengths]
    assert by_length == pytest.approx([8 / length for length in lengths], rel=1e-6)
    assert slope(lengths, by_length) == pytest.approx(-1, abs=1e-6)

    widths = [4, 16, 64, 256]
    by_width = []
    for width in widths:
        step = torch.randn(width, dtype=torch.float64, generator=torch.Generator().manual_seed(width))
        step = step - step.mean()
        by_width.append(jacobian_norm(kind, 3 * step / step.norm()))
    assert slope([float(width) for width in widths], by_width) == pytest.approx(0.5, abs=1e-6)
