"""Generated targets as text, each with its log-probability and its ranking score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from seqlab.decoding.hypothesis import Hypothesis
from seqlab.tasks.excerpt import one_line
from seqlab.tasks.prediction import Prediction


@dataclass(frozen=True)
class TextHypothesis:
    """A hypothesis of a search, decoded into text."""

    text: str
    log_prob: float
    """log P of all tokens, including the end token if there is one, without the tokens that the model
    forces at the start of every target.
    """
    hypothesis: Hypothesis

    @property
    def probability(self) -> float:
        return math.exp(self.log_prob)

    @property
    def score(self) -> float:
        """The ranking score: length-normalized log P for beam search, else log P."""
        return self.hypothesis.score

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "probability": self.probability,
            "log_prob": self.log_prob,
            "score": self.score,
            "ended": self.hypothesis.ended,
        }


@dataclass(frozen=True)
class GeneratedSequence(Prediction):
    """The best target and its alternatives.

    Probabilities of whole sentences are tiny, so log-probabilities are shown instead.
    """

    hypotheses: list[TextHypothesis]
    is_ranked_by_score: bool
    """Whether beam search ranked them by a score other than log P, which lines then show too."""

    @classmethod
    def from_hypotheses(
        cls, source: str, hypotheses: Sequence[TextHypothesis], *, top: int, is_ranked_by_score: bool = False
    ) -> GeneratedSequence:
        """Keep every text once, best first: samples may repeat, and a text may have several tokenizations."""
        distinct: dict[str, TextHypothesis] = {}
        for hypothesis in hypotheses:
            distinct.setdefault(hypothesis.text, hypothesis)
        kept, best = list(distinct.values())[:top], hypotheses[0]
        ranking = [(hypothesis.text, hypothesis.probability) for hypothesis in kept]
        return cls(source, best.text, best.probability, ranking, kept, is_ranked_by_score)

    def to_json(self) -> dict[str, Any]:
        best = self.hypotheses[0].to_json()
        return {
            **super().to_json(),
            **{name: best[name] for name in ("log_prob", "score", "ended")},
            "answers": [hypothesis.to_json() for hypothesis in self.hypotheses],
        }

    def to_line(self) -> str:
        best = self.hypotheses[0]
        score = f"\t{best.score:.4f}" if self.is_ranked_by_score else ""
        return f"{one_line(best.text)}\t{best.log_prob:.4f}\t{one_line(self.input)}{score}"

    def to_lines(self) -> list[str]:
        header = f"  {'log P':>9}" + (f"  {'score':>9}" if self.is_ranked_by_score else "")
        lines = []
        for hypothesis in self.hypotheses:
            score = f"  {hypothesis.score:9.4f}" if self.is_ranked_by_score else ""
            lines.append(f"  {hypothesis.log_prob:9.4f}{score}  {one_line(hypothesis.text)}")
        return [one_line(self.input), header, *lines]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(hypothesis.text)}</td><td>{hypothesis.log_prob:.4f}</td>"
            f"<td>{hypothesis.score:.4f}</td></tr>"
            for hypothesis in self.hypotheses
        )
        return (
            f"<b>{escape(self.answer)}</b><table><tr><th></th><th>log P</th><th>score</th></tr>{rows}</table>"
        )
