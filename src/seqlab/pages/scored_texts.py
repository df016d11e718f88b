"""Texts coloured by how surprising each token was to a language model, the most plausible text first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.charts.token_heatmap import Strip, TokenStrips, draw_token_strips
from seqlab.pages.html import Markup, tag
from seqlab.pages.page import Section, page
from seqlab.pages.study import number_table

MOST_TEXTS = 200
MOST_TOKENS = 2000
LONGEST_NAME = 60


@dataclass(frozen=True)
class ScoredText:
    """A text, its tokens with their surprisals in bits, and what they amount to."""

    text: str
    tokens: Sequence[str]
    bits: Sequence[float]
    bits_per_character: float
    perplexity: float


def render_scored_texts(texts: Sequence[ScoredText], *, title: str, subtitle: str = "", created: str = "") -> str:
    """The whole page as text. One colour is one number of bits in all texts, so that they can be compared."""
    shown = texts[:MOST_TEXTS]
    notices = [f"The first {MOST_TEXTS} of {len(texts):,} texts are shown."] if len(texts) > MOST_TEXTS else []
    if any(len(text.tokens) > MOST_TOKENS for text in shown):
        notices.append(f"Of long texts the first {MOST_TOKENS:,} tokens are drawn.")
    sections = [
        Section("ranking", "From the least to the most surprising", number_table([_line(rank, text) for rank, text in enumerate(shown, start=1)])),
        Section("tokens", "Token by token", tag("div", tag("p", _legend(shown), class_="quiet"), *_strips(shown))),
    ]
    return page(title=title, subtitle=subtitle, created=created, notices=notices, sections=sections)


def _line(rank: int, text: ScoredText) -> dict[str, str | int | float]:
    return {
        "rank": rank,
        "perplexity": text.perplexity,
        "bits per token": sum(text.bits) / len(text.bits),
        "bits per character": text.bits_per_character,
        "bits": float(sum(text.bits)),
        "tokens": len(text.tokens),
        "text": _short(text.text),
    }


def _legend(texts: Sequence[ScoredText]) -> str:
    return (
        "The darker a token, the more bits it cost: 0 bits were certain, 1 bit is the flip of a coin. "
        f"The darkest colour stands for {_darkest(texts):.1f} bits in all texts."
    )


def _darkest(texts: Sequence[ScoredText]) -> float:
    return max((max(text.bits[:MOST_TOKENS]) for text in texts), default=0.0)


def _strips(texts: Sequence[ScoredText]) -> list[Markup]:
    darkest = _darkest(texts)
    pictures = [
        TokenStrips(_short(text.text), text.tokens[:MOST_TOKENS], [Strip("bits", text.bits[:MOST_TOKENS])], darkest=darkest) for text in texts
    ]
    return [tag("div", draw_token_strips(picture, ident=f"text-{rank}")) for rank, picture in enumerate(pictures, start=1)]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"
