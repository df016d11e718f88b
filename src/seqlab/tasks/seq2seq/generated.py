"""Targets that were written for a source, in words: each with log P and with the score by which it was
ranked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.decoding.hypothesis import Hypothesis
from seqlab.tasks.base import Prediction


@dataclass(frozen=True)
class Answer:
    """One target that was written for a source."""

    text: str
    log_prob: float
    """log P of all its tokens, and of its end where it has one; what the model forces every target to begin
    with does not count.
    """
    found: Hypothesis

    @property
    def probability(self) -> float:
        return math.exp(self.log_prob)

    @property
    def score(self) -> float:
        """What it was ranked by: after a beam log P by the rule of lengths, else log P."""
        return self.found.score


@dataclass(frozen=True)
class Written(Prediction):
    """The best target, and others: whole sentences have small probabilities, so each is told by its logarithm
    too.
    """

    answers: list[Answer]

    @classmethod
    def of(cls, question: str, answers: Sequence[Answer], *, top: int) -> Written:
        """Every text once, the best first: a text may be drawn several times, or be written with different
        tokens.
        """
        found: dict[str, Answer] = {}
        for one in answers:
            found.setdefault(one.text, one)
        shown, best = list(found.values())[:top], answers[0]
        return cls(
            question, best.text, best.probability, [(one.text, one.probability) for one in shown], shown
        )

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(one.text)}</td><td>{one.log_prob:.4f}</td><td>{one.score:.4f}</td></tr>"
            for one in self.answers
        )
        return (
            f"<b>{escape(self.answer)}</b><table><tr><th></th><th>log P</th><th>score</th></tr>{rows}</table>"
        )
