"""One model in a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqlab.metrics.score import Score
from seqlab.metrics.seeds import SeedSummary, summarize_seeds
from seqlab.runs.run import Run
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator


@dataclass(frozen=True)
class Competitor:
    """One model in a comparison: one run, or several that differ only in their seeds."""

    name: str
    runs: list[Run]
    evaluations: list[Evaluation]
    evaluator: Evaluator[Any, Any, Any]
    """The evaluator of the first run."""

    @property
    def first(self) -> Evaluation:
        return self.evaluations[0]

    def score(self, name: str) -> Score:
        """Return a score of the first run."""
        return next(score for score in self.first.scores if score.name == name)

    def over_seeds(self, name: str) -> SeedSummary:
        return summarize_seeds(
            [
                next(score.value for score in evaluation.scores if score.name == name)
                for evaluation in self.evaluations
            ]
        )

    @property
    def minutes(self) -> float | None:
        """Training time of all seeds in minutes; None for imported weights."""
        seconds = [run.results.raw.get("training", {}).get("seconds") for run in self.runs]
        return None if None in seconds else sum(seconds) / 60
