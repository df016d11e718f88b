"""The linear term in closed form against scikit-learn, and on a series that is linear."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.linear_model import Ridge

from seqlab.models.forecasting.closed_form import STRENGTHS, Window, fit_linear
from seqlab.models.forecasting.forecaster import Forecaster


def network(context: int, horizon: int, scaling: str = "last", targets: int = 1) -> Forecaster:
    return Forecaster(
        None,
        context=context,
        horizon=horizon,
        num_columns=targets,
        num_targets=targets,
        num_parameters=1,
        scaling=scaling,
        linear=True,
    )


def windows_of(series: np.ndarray, context: int, horizon: int, steps: range) -> Window:
    """series: (time, targets)"""
    inputs = np.stack([series[step - context : step] for step in steps])
    truth = np.stack([series[step : step + horizon] for step in steps])
    return Window(
        torch.from_numpy(inputs).float(),
        torch.ones(inputs.shape, dtype=torch.bool),
        torch.from_numpy(truth).float(),
        torch.ones(truth.shape, dtype=torch.bool),
    )


def test_a_linear_recurrence_is_forecast_exactly() -> None:
    values = [1.0, 1.3]
    for _ in range(200):
        values.append(1.6 * values[-1] - values[-2] + 0.5)
    series = np.array(values)[:, None]
    model = network(6, 4)
    train, valid = (windows_of(series, 6, 4, steps) for steps in (range(6, 120), range(124, 160)))
    fit_linear(model, lambda: [train], lambda: [valid])
    test = windows_of(series, 6, 4, range(170, 190))
    forecast = model(test.inputs, test.is_known, torch.zeros(len(test.inputs), 4, 0))
    actual = forecast.to_series(forecast.parameters)[..., 0]
    torch.testing.assert_close(actual, test.truth, atol=1e-3, rtol=0)


def test_weights_are_those_of_scikit_learn_at_the_best_strength() -> None:
    rng = np.random.default_rng(4)
    series = rng.normal(size=(300, 2)).cumsum(axis=0)
    model = network(5, 3, scaling="none", targets=2)
    train, valid = (windows_of(series, 5, 3, steps) for steps in (range(5, 200), range(208, 290)))
    fit_linear(model, lambda: [train], lambda: [valid])

    def rows(windows: Window) -> tuple[np.ndarray, np.ndarray]:
        inputs = windows.inputs.double().transpose(1, 2).reshape(-1, 5).numpy()
        truth = (windows.truth - windows.inputs[:, -1:]).double().transpose(1, 2).reshape(-1, 3).numpy()
        return inputs, truth

    (inputs, truth), (later, later_truth) = rows(train), rows(valid)
    unit = (inputs**2).sum(axis=0).mean()
    fits = [Ridge(alpha=strength * unit, solver="cholesky").fit(inputs, truth) for strength in STRENGTHS]
    best = min(fits, key=lambda fit: ((fit.predict(later) - later_truth) ** 2).sum())
    assert model.linear is not None
    np.testing.assert_allclose(model.linear.weight.detach(), best.coef_, atol=1e-4)
    np.testing.assert_allclose(model.linear.bias.detach(), best.intercept_, atol=1e-3)


def test_windows_with_missing_truths_are_left_out() -> None:
    rng = np.random.default_rng(5)
    series = rng.normal(size=(120, 1)).cumsum(axis=0)
    models = [network(4, 2), network(4, 2)]
    valid = windows_of(series, 4, 2, range(90, 118))
    whole = windows_of(series, 4, 2, range(4, 80))
    spoiled = windows_of(series, 4, 2, range(4, 84))
    spoiled.truth[-4:, 1] = 1e6
    spoiled.is_truth[-4:, 1] = False
    for model, train in zip(models, (whole, spoiled), strict=True):
        fit_linear(model, lambda train=train: [train], lambda: [valid])
    torch.testing.assert_close(models[0].linear.weight, models[1].linear.weight)
