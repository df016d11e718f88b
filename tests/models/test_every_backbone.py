"""What every backbone promises: batches are only a way to compute faster, and pieces only a way to wait less."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seqlab.models.base import ModelState, backbones
from tests.models.settings_to_try import (
    CASE_NAMES,
    CASES,
    CAUSAL,
    AnySettings,
    assert_every_parameter_has_a_gradient,
    build,
    ragged,
)

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

LENGTHS = [4, 9, 1, 6]
every_body = pytest.mark.parametrize(("name", "settings", "causal"), CASES, ids=CASE_NAMES)
every_causal_body = pytest.mark.parametrize("settings", CAUSAL.values(), ids=CAUSAL)


def test_every_registered_body_is_examined_here() -> None:
    assert {settings.kind for _, settings, _ in CASES} == set(backbones.names())
    assert all(backbones.summary(name).endswith(".") for name in backbones.names())


@every_body
def test_a_sequence_in_a_batch_gives_what_it_gives_alone(
    name: str, settings: AnySettings, causal: bool
) -> None:
    backbone = build(settings, causal=causal)
    steps, is_token = ragged(LENGTHS, backbone.input_size)
    outputs, _ = backbone(steps, is_token)
    assert outputs.shape == (4, 9, backbone.output_size)
    for row, length in enumerate(LENGTHS):
        alone, _ = backbone(steps[row : row + 1, :length], torch.ones(1, length, dtype=torch.bool))
        torch.testing.assert_close(outputs[row, :length], alone[0], rtol=0, atol=1e-10)


@every_body
def test_the_order_of_a_batch_and_more_padding_change_nothing(
    name: str, settings: AnySettings, causal: bool
) -> None:
    backbone = build(settings, causal=causal)
    steps, is_token = ragged(LENGTHS, backbone.input_size)
    outputs, _ = backbone(steps, is_token)
    order = torch.tensor([2, 0, 3, 1])
    wider, is_wider_token = (
        torch.nn.functional.pad(steps[order], (0, 0, 0, 3), value=-7.0),
        torch.nn.functional.pad(is_token[order], (0, 3)),
    )
    reordered, _ = backbone(wider, is_wider_token)
    real = is_token[order]
    torch.testing.assert_close(reordered[:, :9][real], outputs[order][real], rtol=0, atol=1e-10)


@every_body
def test_neighbours_and_padding_get_no_gradient_from_a_sequence(
    name: str, settings: AnySettings, causal: bool
) -> None:
    backbone = build(settings, causal=causal)
    steps, is_token = ragged(LENGTHS, backbone.input_size)
    steps.requires_grad_()
    outputs, _ = backbone(steps, is_token)
    for row, length in enumerate(LENGTHS):
        (reach,) = torch.autograd.grad(outputs[row, :length].square().sum(), steps, retain_graph=True)
        own = torch.zeros_like(is_token)
        own[row, :length] = True
        assert torch.equal(reach.abs().sum(dim=-1) > 0, own)


@every_body
def test_gradients_reach_every_parameter(name: str, settings: AnySettings, causal: bool) -> None:
    backbone = build(settings, causal=causal).train()
    steps, is_token = ragged(LENGTHS, backbone.input_size)
    outputs, _ = backbone(steps, is_token)
    (outputs * torch.randn_like(outputs))[is_token].sum().backward()
    assert_every_parameter_has_a_gradient(backbone)


@every_body
def test_gradients_are_right(name: str, settings: AnySettings, causal: bool) -> None:
    backbone = build(settings, causal=causal)
    steps, is_token = ragged([3, 2], backbone.input_size)
    real = steps.masked_fill(~is_token.unsqueeze(-1), 0.5).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: backbone(x, is_token)[0][is_token], real, fast_mode=True
    )  # along random directions: there are many bodies


@every_body
def test_results_are_random_in_training_only(name: str, settings: AnySettings, causal: bool) -> None:
    backbone = build(settings.model_copy(update={"dropout": 0.5}), causal=causal)
    sure = build(settings.model_copy(update={"dropout": 0.0}), causal=causal)
    steps, is_token = ragged(LENGTHS, backbone.input_size)
    expected, _ = backbone(steps, is_token)
    assert torch.equal(backbone(steps, is_token)[0], expected)
    assert torch.equal(sure.train()(steps, is_token)[0][is_token], expected[is_token])
    backbone.train()
    assert not torch.equal(backbone(steps, is_token)[0][is_token], backbone(steps, is_token)[0][is_token])


@every_causal_body
def test_a_causal_body_never_sees_the_future(settings: AnySettings) -> None:
    backbone = build(settings, causal=True)
    steps, is_token = ragged([7, 7], backbone.input_size)
    steps.requires_grad_()
    outputs, _ = backbone(steps, is_token)
    for t in range(7):
        (reach,) = torch.autograd.grad(outputs[:, t].square().sum(), steps, retain_graph=True)
        assert (reach[:, t + 1 :] == 0).all()
        assert (reach[:, t] != 0).any()
    changed = steps.detach().clone()
    changed[:, 4:] *= -3
    torch.testing.assert_close(backbone(changed, is_token)[0][:, :4], outputs[:, :4], rtol=0, atol=1e-12)


@every_causal_body
@pytest.mark.parametrize("pieces", [[1] * 9, [5, 4], [2, 1, 3, 3]], ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=str)
def test_pieces_with_the_state_give_what_the_whole_gives(
    settings: AnySettings, pieces: list[int], dtype: torch.dtype, tolerance: float
) -> None:
    backbone = build(settings, causal=True, dtype=dtype)
    steps, is_token = ragged([9, 9, 9], backbone.input_size, dtype=dtype)
    whole, _ = backbone(steps, is_token)
    state: ModelState | None = None
    found: list[Tensor] = []
    for piece, real in zip(steps.split(pieces, dim=1), is_token.split(pieces, dim=1), strict=True):
        outputs, state = backbone(piece, real, state)
        found.append(outputs)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=tolerance)


@every_causal_body
def test_pieces_may_be_ragged_and_rows_of_a_state_may_be_picked(settings: AnySettings) -> None:
    """Prompts of different lengths go on side by side, and a search may keep some rows and double others."""
    backbone = build(settings, causal=True)
    first, first_real = ragged([4, 9, 1], backbone.input_size)
    second, second_real = ragged([3, 2, 5, 1], backbone.input_size, seed=2)
    third, third_real = ragged([2, 2, 2, 2], backbone.input_size, seed=3)
    picked = torch.tensor([2, 0, 0, 1])
    _, state = backbone(first, first_real)
    outputs, state = backbone(second, second_real, tuple(part[picked] for part in state))
    later, _ = backbone(third, third_real, state)
    for row, (origin, before, after) in enumerate(zip([2, 0, 0, 1], [1, 4, 4, 9], [3, 2, 5, 1], strict=True)):
        sequence = torch.cat([first[origin, :before], second[row, :after], third[row]]).unsqueeze(0)
        whole, _ = backbone(sequence, torch.ones(sequence.shape[:2], dtype=torch.bool))
        torch.testing.assert_close(
            outputs[row, :after], whole[0, before : before + after], rtol=0, atol=1e-10
        )
        torch.testing.assert_close(later[row], whole[0, -2:], rtol=0, atol=1e-10)


@every_body
def test_the_result_does_not_depend_on_what_was_computed_before(
    name: str, settings: AnySettings, causal: bool
) -> None:
    backbone = build(settings, causal=causal)
    steps, is_token = ragged(LENGTHS, backbone.input_size)
    expected, _ = backbone(steps, is_token)
    with torch.inference_mode():
        backbone(*ragged([30, 2], backbone.input_size))
    torch.testing.assert_close(backbone(steps, is_token)[0], expected, rtol=0, atol=0)
