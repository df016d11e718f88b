"""One answer of a model to one input."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Prediction:
    """The most probable answer, its probability, and the best alternatives.

    A predicted number has no probability; its ranking holds two other numbers, each with the share of true
    values that lie below it.
    """

    input: str
    answer: str
    probability: float | None
    ranking: list[tuple[str, float]]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{share:.4f}</td></tr>" for name, share in self.ranking
        )
        probability = "" if self.probability is None else f" ({self.probability:.3f})"
        return f"<b>{escape(self.answer)}</b>{probability}<table>{rows}</table>"
