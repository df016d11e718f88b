"""A learning-rate range test of a network that is about to be trained, and what it suggests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import nn

from seqlab.core.files import write_whole
from seqlab.core.seeds import derive
from seqlab.models.short_name import short_name
from seqlab.pages.learning_rate import draw_rates, rate_chart, render_rate_page
from seqlab.pages.notebook import framed_figure
from seqlab.pages.report_data import LineChart
from seqlab.pages.study import Row
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.objective import Objective
from seqlab.training.base import Callback
from seqlab.training.range_test import HIGHEST, LOWEST, UPDATES, run_range_test
from seqlab.training.rate_curve import RateCurve

TABLE_ROWS = 16
FRAME_HEIGHT = 460
"""In a notebook, in pixels."""


@dataclass(frozen=True)
class LearningRateSearch:
    """The loss by learning rate, and what it suggests."""

    curve: RateCurve
    data: str
    """The name of the data."""
    model: str
    optimizer: str
    current: float
    """The learning rate of the recipe."""

    @property
    def suggestion(self) -> float | None:
        """A learning rate to train with, two digits; None where the test shows none."""
        return _two_digits(self.curve.suggestion)

    @property
    def steepest(self) -> float | None:
        """The learning rate at which the loss falls fastest."""
        return _two_digits(self.curve.steepest)

    @property
    def limit(self) -> float | None:
        """The learning rate after which the loss rises."""
        return _two_digits(self.curve.limit)

    def sentences(self) -> list[str]:
        """The suggestion and how it comes about."""
        if not self.curve.falls:
            return [
                (
                    "No suggestion: the loss does not fall by more than its noise at any rate. More updates average"
                    " the noise away: --steps NUMBER"
                )
            ]
        if self.suggestion is None:
            return [
                "No suggestion: the loss still falls at the highest rate. Test higher ones: --high NUMBER"
            ]
        steepest = "" if self.steepest is None else f" The loss falls fastest at {self.steepest:g}."
        return [
            (
                f"suggestion: training.learning_rate={self.suggestion:g}, a tenth of {self.limit:g}, above which the"
                f" loss rises.{steepest} The recipe has {self.current:g}."
            )
        ]

    def table(self) -> list[Row]:
        """About 16 of the updates: the rate, the loss of the batch, the smoothed loss."""
        count = len(self.curve.rates)
        places = {
            *range(0, count, math.ceil(count / TABLE_ROWS) or 1),
            *([self.curve.lowest] if count else []),
        }
        return [
            {
                "learning rate": f"{self.curve.rates[place]:.2e}",
                "loss": self.curve.losses[place],
                "smoothed": self.curve.smoothed[place],
                "": "lowest" if place == self.curve.lowest else "",
            }
            for place in sorted(places)
        ]

    def chart(self) -> LineChart:
        marks = {"suggestion": self.suggestion, "limit": self.limit}
        return rate_chart(
            self.curve.rates,
            self.curve.losses,
            self.curve.smoothed,
            {name: rate for name, rate in marks.items() if rate is not None},
        )

    def save(self, path: str | Path, *, command: str = "") -> None:
        """Write a page with the chart, the suggestion and the table. command: what to type next."""
        page = render_rate_page(
            self.chart(),
            subtitle=f"{self.data}, {self.model}, optimizer {self.optimizer}",
            sentences=self.sentences(),
            rows=self.table(),
            command=command,
            created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )
        write_whole(Path(path), page)

    def to_json(self) -> dict[str, Any]:
        return {
            "suggestion": self.suggestion,
            "limit": self.limit,
            "steepest": self.steepest,
            "current": self.current,
            "rates": list(self.curve.rates),
            "losses": list(self.curve.losses),
            "smoothed": self.curve.smoothed,
        }

    def __repr__(self) -> str:
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        return framed_figure(self.sentences()[0], draw_rates(self.chart()), height=FRAME_HEIGHT)


def measure_learning_rates(
    model: nn.Module,
    objective: Objective[Any, Any],
    recipe: Recipe,
    *,
    device: torch.device,
    low: float = LOWEST,
    high: float = HIGHEST,
    steps: int = UPDATES,
    callback: Callback | None = None,
) -> LearningRateSearch:
    """Test learning rates on a copy of the network. The seed of the recipe fixes the result."""
    curve = run_range_test(
        model,
        objective,
        recipe.training,
        device=device,
        low=low,
        high=high,
        updates=steps,
        seed=derive(recipe.training.seed, "learning-rate range test"),
        layer_decay=recipe.start.layer_decay,
        callback=callback,
    )
    return LearningRateSearch(
        curve,
        data=Path(recipe.data.train).name,
        model=short_name(recipe.model),
        optimizer=recipe.training.optimizer,
        current=recipe.training.learning_rate,
    )


def _two_digits(rate: float | None) -> float | None:
    return None if rate is None else float(f"{rate:.1e}")
