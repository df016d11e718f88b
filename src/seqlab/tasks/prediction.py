"""The prediction of a model for one input."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from seqlab.tasks.excerpt import one_line


@dataclass(frozen=True)
class Prediction:
    """The most probable answer, its probability, and the best alternatives.

    A predicted number has no probability; its ranking has the bounds of its interval, each with the share
    of true values below it. Tasks with more information have a subclass that extends the three methods.
    """

    input: str
    answer: str
    probability: float | None
    ranking: list[tuple[str, float]]

    def to_json(self) -> dict[str, Any]:
        """Return plain data, as printed by `seqlab predict --json`."""
        return {
            "input": self.input,
            "answer": self.answer,
            "probability": self.probability,
            "ranking": self.ranking,
        }

    def to_line(self) -> str:
        """Return the answer, its probability or range, and the input, separated by tabs."""
        certainty = (
            " to ".join(name for name, _ in self.ranking)
            if self.probability is None
            else f"{self.probability:.4f}"
        )
        return f"{self.label(self.answer)}\t{certainty}\t{one_line(self.input)}"

    def to_lines(self) -> list[str]:
        """Return the input, then every alternative with its probability."""
        alternatives = [f"  {share:8.4f}  {self.label(name)}" for name, share in self.ranking]
        return [one_line(self.input), *alternatives]

    def label(self, name: str) -> str:
        """Format an answer for a line."""
        return one_line(name)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{share:.4f}</td></tr>" for name, share in self.ranking
        )
        probability = "" if self.probability is None else f" ({self.probability:.3f})"
        return f"<b>{escape(self.answer)}</b>{probability}<table>{rows}</table>"


@dataclass(frozen=True)
class TokenPrediction(Prediction):
    """A predicted token, which lines show in quotes because it may be whitespace."""

    def label(self, name: str) -> str:
        return repr(name)
