"""The prediction of a tagger for one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from seqlab.metrics.spans import extract_spans
from seqlab.tasks.excerpt import one_line
from seqlab.tasks.prediction import Prediction


@dataclass(frozen=True)
class MarkedSpan:
    """Words of a sentence that their tags join, from word `first` to word `last`, counted from 1."""

    type: str
    text: str
    first: int
    last: int


@dataclass(frozen=True)
class TaggedSentence(Prediction):
    """A sentence with its predicted tags. `ranking` goes word by word; `probability` is the product of their
    probabilities.

    spans: the spans that the tags mark (BIO, IOBES, BILOU); None where tags mark no spans.
    candidates: for each word its most probable tags with their probabilities, as many as `top` asks for. The
    first is not always the tag of the word: a CRF decides for the sentence as a whole.
    """

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    spans: tuple[MarkedSpan, ...] | None = None
    candidates: tuple[tuple[tuple[str, float], ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        spans = {} if self.spans is None else {"spans": [asdict(span) for span in self.spans]}
        named = {"words": list(self.words), "tags": list(self.tags)}
        return {**super().to_json(), **named, **spans, "candidates": [list(tags) for tags in self.candidates]}

    def to_lines(self) -> list[str]:
        """A line for each word: its tag with its probability, then the other candidates."""
        sentence, *words = super().to_lines()
        others = [
            "  ".join(f"{tag} {share:.4f}" for tag, share in candidates if tag != chosen)
            for chosen, candidates in zip(self.tags, self.candidates, strict=True)
        ]
        return [
            sentence,
            *(f"{word}  ({other})" if other else word for word, other in zip(words, others, strict=True)),
        ]

    def to_line(self) -> str:
        """Where tags mark spans, the spans follow in a field of their own."""
        if self.spans is None:
            return super().to_line()
        return f"{super().to_line()}\t" + "; ".join(
            f"{span.type}: {one_line(span.text)}" for span in self.spans
        )


def mark_spans(words: Sequence[str], tags: Sequence[str]) -> tuple[MarkedSpan, ...]:
    """The spans that tags mark."""
    return tuple(
        MarkedSpan(span.type, " ".join(words[span.first : span.last + 1]), span.first + 1, span.last + 1)
        for span in extract_spans(tags)
    )
