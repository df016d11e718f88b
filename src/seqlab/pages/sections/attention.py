"""Attention sections: maps over tokens, over images, and of learned queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.charts.attention_map import AttentionMap, draw_attention_map
from seqlab.pages.charts.image_attention import AttentionView, ImageAttentionMap, draw_image_attention
from seqlab.pages.charts.token_heatmap import HeatmapRow, TokenHeatmap, draw_token_heatmap
from seqlab.pages.html import Markup, tag
from seqlab.pages.sections.base import ReportSection, report_sections


@dataclass(frozen=True)
class AttentionExample:
    """The attention of every generated token over the tokens of the source, the end token last."""

    read: Sequence[str]
    written: Sequence[str]
    weights: Sequence[Sequence[float]]


@report_sections.register("attention")
@dataclass(frozen=True)
class AttentionMaps(ReportSection):
    """Attention of a decoder over its source, for a few examples."""

    kind = "attention"
    title = "Attention"
    position = 66
    examples: Sequence[AttentionExample]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([AttentionExample(**example) for example in value["examples"]])

    def html(self) -> Markup | None:
        hint = (
            "Each row is an output token, each column a source token; darker cells have more attention"
            " weight."
        )
        maps = [
            draw_attention_map(
                AttentionMap(
                    "".join(example.written[:-1])[:60], example.written, example.read, example.weights
                ),
                ident=f"look-{index}",
            )
            for index, example in enumerate(self.examples, start=1)
        ]
        return _with_hint(hint, maps)


@dataclass(frozen=True)
class ImageExample:
    """An image with a grid of weights for every generated token, the end token last."""

    title: str
    pixels: Any
    looks: Sequence[dict[str, Any]]


@report_sections.register("image_attention")
@dataclass(frozen=True)
class ImageAttention(ReportSection):
    """Attention of a decoder over the regions of an image, for a few examples."""

    kind = "image_attention"
    title = "Attention"
    position = 67
    examples: Sequence[ImageExample]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([ImageExample(**example) for example in value["examples"]])

    def html(self) -> Markup | None:
        hint = "The image once per generated word; brighter regions have more attention weight."
        figures = [
            draw_image_attention(
                ImageAttentionMap(
                    example.title,
                    example.pixels,
                    [AttentionView(**look) for look in example.looks],
                    columns=8,
                ),
                ident=f"spotlight-{index}",
            )
            for index, example in enumerate(self.examples, start=1)
        ]
        return _with_hint(hint, figures)


@dataclass(frozen=True)
class QueryExample:
    """A text with the weight of every token in every learned query."""

    title: str
    tokens: Sequence[str]
    strips: Sequence[dict[str, Any]]


@report_sections.register("query_attention")
@dataclass(frozen=True)
class QueryAttention(ReportSection):
    """Attention of the learned queries of a classifier, for a few examples."""

    kind = "query_attention"
    title = "Attention of the learned queries"
    position = 68
    examples: Sequence[QueryExample]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([QueryExample(**example) for example in value["examples"]])

    def html(self) -> Markup | None:
        hint = (
            "Each learned query attends to some tokens more than to others; darker tokens have more"
            " attention weight."
        )
        figures = [
            draw_token_heatmap(
                TokenHeatmap(
                    example.title, example.tokens, [HeatmapRow(**strip) for strip in example.strips]
                ),
                ident=f"strip-{index}",
                width=1000.0,
            )
            for index, example in enumerate(self.examples, start=1)
        ]
        return _with_hint(hint, figures)


def _with_hint(hint: str, figures: Sequence[Markup]) -> Markup | None:
    return (
        tag(
            "div",
            tag("p", hint, class_="quiet"),
            *[tag("div", figure, class_="scroll") for figure in figures],
        )
        if figures
        else None
    )
