"""The paths around a sub-layer, against plain arithmetic; how they differ, and what each does to a gradient
on its way down.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.residual import NormalizedSkip, PostNorm, PreNorm, Residual, ReZero, rezero_scale
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer import TransformerBackbone

SIZE, EPS = 5, 1e-6
STEP = [0.5, -1.0, 2.0, 3.0, -0.25]
GAIN, SHIFT = [1.5, 0.5, -1.0, 2.0, 1.0], [0.1, 0.0, -0.3, 0.2, 0.4]


def norm() -> nn.LayerNorm:
    layer = nn.LayerNorm(SIZE, eps=EPS).double()
    layer.load_state_dict({"weight": torch.tensor(GAIN), "bias": torch.tensor(SHIFT)})
    return layer


def plain_norm(values: list[float]) -> list[float]:
    gain, shift = torch.tensor(GAIN).tolist(), torch.tensor(SHIFT).tolist()  # float32, as the layer has them
    mean = sum(values) / SIZE
    size = (sum((value - mean) ** 2 for value in values) / SIZE + EPS) ** 0.5
    return [g * (value - mean) / size + b for value, g, b in zip(values, gain, shift, strict=True)]


def sublayer(values: Tensor) -> Tensor:
    return values**2 - values.flip(-1)


def plain_sublayer(values: list[float]) -> list[float]:
    return [value**2 - other for value, other in zip(values, reversed(values), strict=True)]


def added(first: list[float], second: list[float], *, factor: float = 1.0) -> list[float]:
    return [a + factor * b for a, b in zip(first, second, strict=True)]


def around(path: Residual, steps: Tensor) -> Tensor:
    entered = path.before_sublayer(steps)
    return path.after_sublayer(steps, entered, sublayer(entered))


PATHS: dict[str, tuple[Callable[[], Residual], Callable[[list[float]], list[float]]]] = {
    "post": (lambda: PostNorm(norm(), dropout=0.0), lambda x: plain_norm(added(x, plain_sublayer(x)))),
    "pre": (lambda: PreNorm(norm(), dropout=0.0), lambda x: added(x, plain_sublayer(plain_norm(x)))),
    "lecture": (
        lambda: NormalizedSkip(norm(), dropout=0.0),
        lambda x: added(plain_norm(x), plain_sublayer(plain_norm(x))),
    ),
    "rezero": (
        lambda: ReZero(nn.Parameter(torch.tensor(0.375, dtype=torch.float64)), dropout=0.0),
        lambda x: added(x, plain_sublayer(x), factor=0.375),
    ),
}


@pytest.mark.spec(156, 166, 167, 169)
@pytest.mark.parametrize("name", PATHS)
def test_each_path_follows_its_equation(name: str) -> None:
    build, plain = PATHS[name]
    found = around(build(), torch.tensor(STEP, dtype=torch.float64)[None, None])
    assert found[0, 0].tolist() == pytest.approx(plain(STEP), abs=1e-12)


@pytest.mark.spec(167)
def test_the_lectures_path_differs_from_pre_norm_by_what_the_norm_took_away() -> None:
    steps = torch.tensor(STEP, dtype=torch.float64)[None, None]
    pre, lecture = (
        around(PreNorm(norm(), dropout=0.0), steps),
        around(NormalizedSkip(norm(), dropout=0.0), steps),
    )
    lost = [value - normalised for value, normalised in zip(STEP, plain_norm(STEP), strict=True)]
    assert (pre - lecture)[0, 0].tolist() == pytest.approx(lost, abs=1e-12)
    assert max(abs(value) for value in lost) > 1


@pytest.mark.parametrize("name", PATHS)
def test_dropout_takes_from_the_sub_layer_and_never_from_the_way_around_it(name: str) -> None:
    steps = torch.tensor(STEP, dtype=torch.float64)[None, None]
    path = PATHS[name][0]()
    path.dropout.p = 1 - 2**-16  # the most that is less than everything
    entered = path.before_sublayer(steps)
    torch.manual_seed(0)
    without = path.after_sublayer(steps, entered, sublayer(entered))
    expected = {"post": norm()(steps), "pre": steps, "lecture": norm()(steps), "rezero": steps}[name]
    torch.testing.assert_close(without, expected, rtol=0, atol=1e-12)
    path.eval()
    torch.testing.assert_close(around(path, steps), around(PATHS[name][0](), steps), rtol=0, atol=0)


def stack(norm: str, *, layers: int = 3, size: int = 8) -> TransformerBackbone:
    torch.manual_seed(3)
    settings = TransformerSettings(
        layers=layers, hidden_size=size, heads=2, norm=norm, positions="none", dropout=0.0, activation="relu"
    )
    return TransformerBackbone.from_settings(settings, causal=False)


def run(backbone: TransformerBackbone, steps: Tensor) -> Tensor:
    return backbone(steps, torch.ones(steps.shape[:2], dtype=torch.bool))[0]


@pytest.mark.spec(169)
@pytest.mark.parametrize("norm", ["rezero", "shared_rezero"])
def test_rezero_is_the_identity_at_first_to_the_bit(norm: str) -> None:
    steps = torch.randn(2, 7, 8)
    assert torch.equal(run(stack(norm, layers=6), steps), steps)
    assert not torch.equal(run(stack("pre", layers=6), steps), steps)


@pytest.mark.spec(169)
@pytest.mark.parametrize("norm", ["rezero", "shared_rezero"])
def test_only_the_scales_learn_in_the_first_update_and_then_everything_does(norm: str) -> None:
    backbone = stack(norm)
    steps, wanted = torch.randn(2, 7, 8), torch.randn(2, 7, 8)
    scales = {name for name, _ in backbone.named_parameters() if name.endswith("scale")}
    (run(backbone, steps) - wanted).square().sum().backward()
    assert {
        name for name, each in backbone.named_parameters() if each.grad is not None and each.grad.any()
    } == scales
    with torch.no_grad():
        for each in backbone.parameters():
            assert each.grad is not None
            each.sub_(0.01 * each.grad)
    backbone.zero_grad()
    (run(backbone, steps) - wanted).square().sum().backward()
    assert all(each.grad is not None and each.grad.any() for each in backbone.parameters())


@pytest.mark.spec(169)
@pytest.mark.parametrize(("norm", "scales_per_layer"), [("rezero", 2), ("shared_rezero", 1)])
def test_one_scale_for_each_sub_layer_or_for_each_layer(norm: str, scales_per_layer: int) -> None:
    backbone, plain = stack(norm), stack("pre")
    without_norms = sum(each.numel() for name, each in plain.named_parameters() if "norm" not in name)
    assert sum(each.numel() for each in backbone.parameters()) == without_norms + 3 * scales_per_layer
    layer = backbone.layers[0]
    assert (layer.attention_residual.scale is layer.feed_forward_residual.scale) == (norm == "shared_rezero")


@pytest.mark.spec(169)
def test_a_shared_scale_gets_the_gradient_of_both_sub_layers() -> None:
    steps, wanted = torch.randn(2, 7, 8), torch.randn(2, 7, 8)
    gradients = {}
    for norm in ("rezero", "shared_rezero"):
        backbone = stack(norm, layers=1)
        (run(backbone, steps) - wanted).square().sum().backward()
        gradients[norm] = {
            name: each.grad.item()
            for name, each in backbone.named_parameters()
            if name.endswith("scale") and each.grad is not None
        }
    assert len(gradients["shared_rezero"]) == 1
    assert sum(gradients["shared_rezero"].values()) == pytest.approx(
        sum(gradients["rezero"].values()), rel=1e-5
    )


@pytest.mark.spec(167)
def test_a_stack_with_the_lectures_path_forgets_the_size_of_its_input_and_pre_norm_keeps_it() -> None:
    steps = torch.randn(2, 7, 8)
    pre, lecture = stack("pre"), stack("lecture")
    pre.last_norm = lecture.last_norm = nn.Identity()  # only the layers are compared
    torch.testing.assert_close(run(lecture, 1000 * steps), run(lecture, steps), rtol=0, atol=1e-3)
    assert (run(pre, 1000 * steps) - run(pre, steps)).abs().max() > 100


@pytest.mark.spec(105)
@pytest.mark.parametrize(
    ("norm", "smallest", "largest"),
    [("post", 0.0, 0.4), ("lecture", 0.0, 0.5), ("pre", 1.2, 3.0), ("rezero", 1.0, 1.0)],
)
def test_a_gradient_shrinks_on_its_way_down_where_every_layer_has_a_norm_on_the_path(
    norm: str, smallest: float, largest: float
) -> None:
    """Each norm on the path divides by the size of the sum that it sees: that compounds over twelve
    layers.
    """
    backbone = stack(norm, layers=12, size=64)
    outputs: list[Tensor] = []

    def keep(_module: nn.Module, _inputs: tuple[Tensor, ...], output: tuple[Tensor, object]) -> None:
        output[0].retain_grad()
        outputs.append(output[0])

    for layer in backbone.layers:
        layer.register_forward_hook(keep)
    result = run(backbone, torch.randn(4, 20, 64, requires_grad=True))
    (result * torch.randn_like(result)).sum().backward()
    first, last = (each.grad.norm().item() for each in (outputs[0], outputs[-1]) if each.grad is not None)
    assert smallest <= first / last <= largest


def test_a_new_scale_is_zero() -> None:
    assert rezero_scale().item() == 0.0
    assert rezero_scale().requires_grad
