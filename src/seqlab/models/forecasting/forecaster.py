"""A forecaster: reads a window of a series and predicts every step of the horizon at once."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.pooling import LastPool
from seqlab.blocks.window_scale import WindowScale
from seqlab.models.base import Backbone


class Forecast(NamedTuple):
    """Parameters of the prediction for every step, in units of the window, and the way back."""

    parameters: Float[Tensor, "batch horizon targets parameters"]
    location: Float[Tensor, "batch targets"]
    scale: Float[Tensor, "batch targets"]

    def to_window(
        self, values: Float[Tensor, "batch horizon targets"]
    ) -> Float[Tensor, "batch horizon targets"]:
        """Convert values of the series to units of the window."""
        return (values - self.location.unsqueeze(1)) / self.scale.unsqueeze(1)

    def to_series(
        self, values: Float[Tensor, "batch horizon targets levels"]
    ) -> Float[Tensor, "batch horizon targets levels"]:
        """Convert values in units of the window to values of the series."""
        return self.location[:, None, :, None] + self.scale[:, None, :, None] * values


class Forecaster(nn.Module):
    """parameters_h = naive_h + linear(window)_h + head(backbone(embed(window)))_h + step(context, known_h)

    naive_h, the last value or the last season, is added to the location (parameter `center`). The last three terms start
    at zero, so that an untrained forecaster repeats the last value or the last season. The first columns of the inputs
    are the targets.

    Without a backbone, a bias takes the place of the head.

    linear: one map from the window of a target to its horizon, shared by all targets (None: no such term).
    Paper: Zeng et al. 2023, "Are Transformers Effective for Time Series Forecasting?", arXiv:2205.13504.
    Patches of `patch` steps are read as one step. Paper: Nie et al. 2023, arXiv:2211.14730.
    """

    def __init__(
        self,
        backbone: Backbone | None,
        *,
        context: int,
        horizon: int,
        num_columns: int,
        num_targets: int,
        num_parameters: int,
        num_known: int = 0,
        season: int = 1,
        center: int = 0,
        patch: int = 1,
        scaling: str = "last",
        linear: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        assert season <= context, "a season has to fit into the window"
        self.context, self.horizon, self.num_targets = context, horizon, num_targets
        self.num_parameters, self.season, self.center, self.patch = num_parameters, season, center, patch
        self.scaling = WindowScale(scaling)
        self.backbone, self.pool, self.dropout = backbone, LastPool(bidirectional=False), Dropout(dropout)
        size = num_targets * num_parameters
        if backbone is not None:
            self.embed = nn.Linear(patch * (num_columns + num_targets), backbone.input_size)
            self.head = zero_linear(backbone.output_size, horizon * size)
        else:
            self.bias = nn.Parameter(torch.zeros(horizon, num_targets, num_parameters))
        self.linear = zero_linear(context, horizon) if linear else None
        self.known = KnownSteps(backbone, num_known, size) if num_known else None

    def forward(
        self,
        inputs: Float[Tensor, "batch context columns"],
        is_known: Bool[Tensor, "batch context targets"],
        known: Float[Tensor, "batch horizon known"],
    ) -> Forecast:
        """is_known: which target values are there; the others are ignored. known: what is known of future steps."""
        targets = inputs[..., : self.num_targets]
        location, scale = self.scaling(targets, is_known)
        window = self.in_window_units(targets, is_known, location, scale)
        parameters = window.new_zeros(len(inputs), self.horizon, self.num_targets, self.num_parameters)
        middle = self.naive(window)
        if self.linear is not None:
            middle = middle + self.linear(window.transpose(1, 2)).transpose(1, 2)
        parameters = add_to(parameters, self.center, middle)
        features = None
        if self.backbone is not None:
            features = self._read(
                torch.cat([window, inputs[..., self.num_targets :], is_known], dim=-1), is_known
            )
            parameters = parameters + self.head(self.dropout(features)).view(parameters.shape)
        else:
            parameters = parameters + self.bias
        if self.known is not None:
            parameters = parameters + self.known(features, known).view(parameters.shape)
        return Forecast(parameters, location, scale)

    def in_window_units(
        self,
        targets: Float[Tensor, "batch context targets"],
        is_known: Bool[Tensor, "batch context targets"],
        location: Float[Tensor, "batch targets"],
        scale: Float[Tensor, "batch targets"],
    ) -> Float[Tensor, "batch context targets"]:
        """Scale the targets of a window; missing ones are 0."""
        window = (targets - location.unsqueeze(1)) / scale.unsqueeze(1)
        return window.masked_fill(~is_known, 0.0)

    def naive(self, window: Float[Tensor, "batch context targets"]) -> Float[Tensor, "batch horizon targets"]:
        """The last season again and again; with scaling by the last value and no season, that is 0."""
        steps = torch.arange(self.horizon, device=window.device) % self.season
        return window[:, self.context - self.season + steps]

    def _read(
        self, steps: Float[Tensor, "batch context columns"], is_known: Bool[Tensor, "batch context targets"]
    ) -> Float[Tensor, "batch features"]:
        assert self.backbone is not None
        is_token = is_known.new_ones(steps.shape[:2])
        if self.patch > 1:
            whole = self.context // self.patch
            steps = steps[:, self.context - whole * self.patch :].reshape(len(steps), whole, -1)
            is_token = is_token[:, :whole]
        features, _ = self.backbone(self.embed(steps), is_token)
        return self.pool(features, is_token)


class KnownSteps(nn.Module):
    """out_h = W₂ gelu(W₁ [context; known_h]), the same for every step; starts at zero."""

    def __init__(self, backbone: Backbone | None, num_known: int, size: int) -> None:
        super().__init__()
        width = 0 if backbone is None else backbone.output_size
        hidden_size = max(32, width)
        self.read = nn.Linear(width + num_known, hidden_size)
        self.write = zero_linear(hidden_size, size)

    def forward(
        self, features: Float[Tensor, "batch features"] | None, known: Float[Tensor, "batch horizon known"]
    ) -> Float[Tensor, "batch horizon size"]:
        if features is not None:
            known = torch.cat([features.unsqueeze(1).expand(-1, known.shape[1], -1), known], dim=-1)
        return self.write(nn.functional.gelu(self.read(known)))


def zero_linear(in_features: int, out_features: int) -> nn.Linear:
    """Return a linear layer that starts as the zero function."""
    layer = nn.Linear(in_features, out_features)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def add_to(
    parameters: Float[Tensor, "batch horizon targets parameters"],
    place: int,
    values: Float[Tensor, "batch horizon targets"],
) -> Float[Tensor, "batch horizon targets parameters"]:
    """Add values to one of the parameters."""
    one_hot = nn.functional.one_hot(torch.tensor(place), parameters.shape[-1]).to(parameters)
    return parameters + values.unsqueeze(-1) * one_hot
