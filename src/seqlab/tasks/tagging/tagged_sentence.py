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
    """

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    spans: tuple[MarkedSpan, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        spans = {} if self.spans is None else {"spans": [asdict(span) for span in self.spans]}
        return {**super().to_json(), "words": list(self.words), "tags": list(self.tags), **spans}

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
