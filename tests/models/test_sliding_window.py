"""A Transformer that looks at near steps only: how far it sees, and what it keeps."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seqlab.models.base import ModelState
from seqlab.models.settings.transformer import TransformerSettings
from tests.models.settings_to_try import build, ragged

pytestmark = pytest.mark.slow  # short each, long together


def settings(*, layers: int, window: int, positions: str = "none") -> TransformerSettings:
    return TransformerSettings.model_validate(
        {"hidden_size": 4, "heads": 2, "layers": layers, "window": window, "positions": positions}
    )


@pytest.mark.spec(175)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("layers", "window", "time"), [(1, 1, 7), (1, 3, 9), (3, 2, 11), (2, 4, 15), (2, 5, 100)]
)
def test_a_step_is_moved_by_the_steps_within_the_windows_of_all_layers(
    layers: int, window: int, time: int, causal: bool
) -> None:
    backbone = build(settings(layers=layers, window=window), causal=causal)
    steps, is_token = ragged([time], 4)
    steps.requires_grad_()
    outputs, _ = backbone(steps, is_token)
    reach = layers * (window - 1)
    for t in (0, time // 2, time - 1):
        (gradient,) = torch.autograd.grad(outputs[0, t].square().sum(), steps, retain_graph=True)
        moved = gradient[0].abs().sum(dim=-1) > 0
        assert moved.tolist() == [t - reach <= step <= t + (0 if causal else reach) for step in range(time)]
    changed = steps.detach().clone()
    changed[0, time // 2, 0] += 1.0  # all features alike would be lost in a norm
    differs = (backbone(changed, is_token)[0] - outputs)[0].abs().amax(dim=-1) > 1e-12
    assert differs.tolist() == [
        step - time // 2 <= reach and (time // 2 - step <= (0 if causal else reach)) for step in range(time)
    ]


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi", "relative"])
def test_a_window_as_wide_as_the_sequence_is_no_window(positions: str) -> None:
    steps, is_token = ragged([9, 4], 4)
    wide, _ = build(settings(layers=2, window=9, positions=positions), causal=True)(steps, is_token)
    free, _ = build(settings(layers=2, window=0, positions=positions), causal=True)(steps, is_token)
    torch.testing.assert_close(wide, free, rtol=0, atol=1e-12)


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi", "relative"])
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["float64", "float32"]
)
def test_decoding_lets_go_of_steps_out_of_sight_and_gives_the_same(
    positions: str, dtype: torch.dtype, tolerance: float
) -> None:
    backbone = build(settings(layers=2, window=5, positions=positions), causal=True, dtype=dtype)
    steps, is_token = ragged([90, 90], 4, dtype=dtype)
    state: ModelState | None = None
    found: list[Tensor] = []
    with torch.no_grad():
        whole, _ = backbone(steps, is_token)
        for t in range(90):
            output, state = backbone(steps[:, t : t + 1], is_token[:, t : t + 1], state)
            found.append(output)
            assert all(cache.length < 10 for cache in state[1:])
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=tolerance)


def test_a_window_takes_the_flash_kernel_whichever_way_it_is_computed() -> None:
    for time in (20, 90):  # by a mask, by blocks
        backbone = build(settings(layers=1, window=5, positions="rotary"), causal=True).train()
        steps, is_token = ragged([time], 4)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            backbone(steps, is_token)[0].sum().backward()
        ran = {event.key for event in profile.key_averages()}
        assert {
            "aten::_scaled_dot_product_flash_attention_for_cpu",
            "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
        } <= ran
        assert "aten::_scaled_dot_product_attention_math" not in ran
