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
    """A span of words marked by tags, from word `first` to word `last` (1-based)."""

    type: str
    text: str
    first: int
    last: int


@dataclass(frozen=True)
class TaggedSentence(Prediction):
    """A sentence with its predicted tags. `ranking` is word by word; `probability` is the product over the words.

    spans: the spans that the tags mark (BIO, IOBES, BILOU); None if tags do not mark spans.
    candidates: the `top` most probable tags of each word with their probabilities. The first is not always the
    predicted tag, because a CRF decodes the sentence as a whole.
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
        """Return a line per word: its tag with its probability, then the other candidates."""
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
        """Return one line; if tags mark spans, these follow in a separate field."""
        if self.spans is None:
            return super().to_line()
        return f"{super().to_line()}\t" + "; ".join(
            f"{span.type}: {one_line(span.text)}" for span in self.spans
        )


def mark_spans(words: Sequence[str], tags: Sequence[str]) -> tuple[MarkedSpan, ...]:
    """Return the spans that tags mark."""
    return tuple(
        MarkedSpan(span.type, " ".join(words[span.first : span.last + 1]), span.first + 1, span.last + 1)
        for span in extract_spans(tags)
    )
