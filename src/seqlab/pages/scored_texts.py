"""Texts colored by the surprisal of each token under a language model, most likely text first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.charts.token_heatmap import HeatmapRow, TokenHeatmap, draw_token_heatmap
from seqlab.pages.html import Markup, tag
from seqlab.pages.page import Section, render_page
from seqlab.pages.study import number_table

MAX_TEXTS = 200
MAX_TOKENS = 2000
MAX_NAME_CHARACTERS = 60


@dataclass(frozen=True)
class ScoredText:
    """A text, its tokens with their surprisals in bits, and the totals."""

    text: str
    tokens: Sequence[str]
    bits: Sequence[float]
    bits_per_character: float
    perplexity: float


def render_scored_texts(
    texts: Sequence[ScoredText], *, title: str, subtitle: str = "", created: str = ""
) -> str:
    """The whole page as text. A color means the same number of bits in all texts, so that they are
    comparable.
    """
    visible_texts = texts[:MAX_TEXTS]
    notices = [f"Showing the first {MAX_TEXTS} of {len(texts):,} texts."] if len(texts) > MAX_TEXTS else []
    if any(len(text.tokens) > MAX_TOKENS for text in visible_texts):
        notices.append(f"Long texts show their first {MAX_TOKENS:,} tokens.")
    sections = [
        Section(
            "ranking",
            "Ranking by perplexity, lowest first",
            number_table([_line(rank, text) for rank, text in enumerate(visible_texts, start=1)]),
        ),
        Section(
            "tokens",
            "Token by token",
            tag("div", tag("p", _legend(visible_texts), class_="quiet"), *_heatmaps(visible_texts)),
        ),
    ]
    return render_page(title=title, subtitle=subtitle, created=created, notices=notices, sections=sections)


def _line(rank: int, text: ScoredText) -> dict[str, str | int | float]:
    return {
        "rank": rank,
        "perplexity": text.perplexity,
        "bits per token": sum(text.bits) / len(text.bits),
        "bits per character": text.bits_per_character,
        "bits": float(sum(text.bits)),
        "tokens": len(text.tokens),
        "text": _shorten_text(text.text),
    }


def _legend(texts: Sequence[ScoredText]) -> str:
    return (
        "Darker tokens cost more bits: 0 bits means certain, 1 bit is a coin flip. In all texts, the"
        f" darkest color means {_max_bits(texts):.1f} bits."
    )


def _max_bits(texts: Sequence[ScoredText]) -> float:
    return max((max(text.bits[:MAX_TOKENS]) for text in texts), default=0.0)


def _heatmaps(texts: Sequence[ScoredText]) -> list[Markup]:
    max_bits = _max_bits(texts)
    heatmaps = [
        TokenHeatmap(
            _shorten_text(text.text),
            text.tokens[:MAX_TOKENS],
            [HeatmapRow("bits", text.bits[:MAX_TOKENS])],
            max_weight=max_bits,
        )
        for text in texts
    ]
    return [
        tag("div", draw_token_heatmap(heatmap, ident=f"text-{rank}"))
        for rank, heatmap in enumerate(heatmaps, start=1)
    ]


def _shorten_text(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_NAME_CHARACTERS else line[: MAX_NAME_CHARACTERS - 1] + "…"
