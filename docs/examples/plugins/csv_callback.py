"""A callback of your own: the losses of a training as a CSV file, for a spreadsheet."""

from __future__ import annotations

from pathlib import Path

from seqlab import register
from seqlab.training.base import Callback, StepReport, Validation


@register.callback("csv_log")
class CsvLog(Callback):
    """Writes a line to losses.csv at every validation."""

    def __init__(self, path: str | Path = "losses.csv") -> None:
        self.path = Path(path)
        self.path.write_text("step,train_loss,validation\n", encoding="utf-8")
        self.losses: list[float] = []

    def on_step(self, report: StepReport) -> None:
        self.losses.append(report.loss)

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        mean = sum(self.losses) / max(1, len(self.losses))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{step},{mean:.6f},{validation.value:.6f}\n")
        self.losses = []
