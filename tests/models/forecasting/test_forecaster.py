"""A forecaster starts as the naive forecast, ignores what is missing, and scales back exactly."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seqlab.cells.settings import named_cell
from seqlab.models.base import backbones
from seqlab.models.forecasting.forecaster import Forecaster
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.fixed_window import FixedWindowSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings

CONTEXT, HORIZON, TARGETS, KNOWN, BATCH = 12, 5, 2, 3, 4
SETTINGS = {
    "lstm": RecurrentSettings(hidden_size=7, dropout=0.0),
    "gru": RecurrentSettings(cell=named_cell("gru"), hidden_size=7, dropout=0.0),
    "convolutional": ConvolutionalSettings(layers=2, hidden_size=8, dropout=0.0),
    "transformer": TransformerSettings(layers=1, hidden_size=8, heads=2, dropout=0.0),
    "fixed_window": FixedWindowSettings(dropout=0.0),
}
each_backbone = pytest.mark.parametrize("name", [*SETTINGS, "none"])


def build(name: str, **options: object) -> Forecaster:
    torch.manual_seed(3)
    settings = SETTINGS.get(name)
    backbone = None if settings is None else backbones.get(settings.kind).from_settings(settings, causal=True)
    sizes = {"context": CONTEXT, "horizon": HORIZON, "num_columns": TARGETS + 1, "num_targets": TARGETS}
    network = Forecaster(
        backbone, **sizes, num_parameters=3, num_known=KNOWN, center=1, linear=True, **options
    )  # type: ignore[arg-type]
    return network.eval()


def moved(network: Forecaster) -> Forecaster:
    """The same network with weights that are not zero anywhere."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    return network


def window() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(5)
    inputs = 50 + 3 * torch.randn(BATCH, CONTEXT, TARGETS + 1)
    return inputs, torch.ones(BATCH, CONTEXT, TARGETS, dtype=torch.bool), torch.randn(BATCH, HORIZON, KNOWN)


@each_backbone
def test_an_untrained_forecaster_repeats_the_last_value(name: str) -> None:
    inputs, is_known, known = window()
    forecast = build(name)(inputs, is_known, known)
    last = inputs[:, -1, None, :TARGETS].expand(-1, HORIZON, -1)
    torch.testing.assert_close(forecast.to_series(forecast.parameters)[..., 1], last)


@each_backbone
def test_an_untrained_forecaster_repeats_the_last_season(name: str) -> None:
    inputs, is_known, known = window()
    forecast = build(name, season=4)(inputs, is_known, known)
    season = inputs[:, [8, 9, 10, 11, 8], :TARGETS]
    torch.testing.assert_close(forecast.to_series(forecast.parameters)[..., 1], season)


@each_backbone
@pytest.mark.parametrize("patch", [1, 5])
def test_missing_values_may_be_anything(name: str, patch: int) -> None:
    network = moved(build(name, patch=patch))
    inputs, is_known, known = window()
    is_known[0, 3, 1] = is_known[1, -1, 0] = is_known[2, :, 0] = False
    expected = network(inputs, is_known, known)
    changed = inputs.clone()
    changed[..., :TARGETS][~is_known] = 1e6
    for before, after in zip(expected, network(changed, is_known, known), strict=True):
        assert torch.equal(before, after)


@each_backbone
def test_level_and_unit_of_a_series_do_not_matter(name: str) -> None:
    network = moved(build(name, season=3)).double()
    inputs, is_known, known = window()
    inputs, known = inputs.double(), known.double()
    forecast = network(inputs, is_known, known)
    other = inputs.clone()
    other[..., :TARGETS] = 1000 * inputs[..., :TARGETS] - 7
    changed = network(other, is_known, known)
    torch.testing.assert_close(changed.parameters, forecast.parameters)
    torch.testing.assert_close(
        changed.to_series(changed.parameters), 1000 * forecast.to_series(forecast.parameters) - 7
    )


@each_backbone
def test_windows_of_a_batch_do_not_see_each_other(name: str) -> None:
    network = moved(build(name))
    inputs, is_known, known = window()
    together = network(inputs, is_known, known).parameters
    for row in range(BATCH):
        part = slice(row, row + 1)
        alone = network(inputs[part], is_known[part], known[part]).parameters
        torch.testing.assert_close(alone, together[part], rtol=1e-5, atol=1e-5)


@each_backbone
def test_gradients_reach_every_parameter(name: str) -> None:
    network = moved(build(name, patch=3))
    inputs, is_known, known = window()
    network(inputs, is_known, known).parameters.square().sum().backward()
    missing = [name for name, parameter in network.named_parameters() if not parameter.grad.abs().sum() > 0]
    assert not missing


def test_what_is_known_of_a_step_only_changes_that_step() -> None:
    network = moved(build("lstm"))
    inputs, is_known, known = window()
    before = network(inputs, is_known, known).parameters
    known[:, 2] += 1
    changed = (network(inputs, is_known, known).parameters - before).abs().amax(dim=(0, 2, 3)) > 1e-6
    assert changed.tolist() == [False, False, True, False, False]


def test_truths_and_forecasts_use_the_same_units() -> None:
    inputs, is_known, known = window()
    forecast = build("lstm")(inputs, is_known, known)
    truth = torch.randn(BATCH, HORIZON, TARGETS)
    back = forecast.to_series(forecast.to_window(truth).unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(back, truth)
