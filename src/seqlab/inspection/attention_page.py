"""The attention weights of one text as an HTML page: token heat maps for every head, and attention maps if
they are readable.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.inspection.attention_weights import LayerAttention
from seqlab.pages.charts.attention_map import AttentionMap, draw_attention_map
from seqlab.pages.charts.token_heatmap import HeatmapRow, TokenHeatmap, draw_token_heatmap
from seqlab.pages.html import Markup, tag
from seqlab.pages.notebook import framed_figure
from seqlab.pages.page import Section, render_page

MAX_MAP_TOKENS = 40
"""Tokens up to which a map of all pairs is drawn."""
FRAME_HEIGHT = 560
"""In a notebook, in pixels."""


def write_attention_page(alignments: Sequence[LayerAttention], path: str | Path) -> Path:
    """Write the self-contained page and return its path."""
    if not alignments:
        raise UsageError(
            "there are no attention weights to draw.", cure=("Get them with attention_weights(run, text).")
        )
    sections = [
        Section(f"look-{number}", layer.title, _layer(layer, number))
        for number, layer in enumerate(alignments, start=1)
    ]
    write_whole(
        Path(path),
        render_page(
            title="Attention",
            subtitle=alignments[0].text or " ".join(alignments[0].tokens),
            created="",
            notices=(),
            sections=sections,
        ),
    )
    return Path(path)


def attention_heatmap(layer: LayerAttention) -> TokenHeatmap:
    """One row for each learned query or, for self-attention, for each head: the mean weight of a token
    over all queries.
    """
    if layer.has_learned_queries:
        rows = [
            HeatmapRow(name, weights.tolist())
            for name, weights in zip(layer.query_tokens, layer.alignment[0], strict=True)
        ]
        return TokenHeatmap("Attention of each learned query", layer.tokens, rows)
    means = layer.alignment.mean(axis=1)  # (heads, source)
    rows = [HeatmapRow(f"head {head}", weights.tolist()) for head, weights in enumerate(means, start=1)]
    return TokenHeatmap("Mean attention to each token", layer.tokens, rows)


def display_layer(layer: LayerAttention) -> Markup:
    """The figures of one layer, for a notebook."""
    return framed_figure(layer.title, _layer(layer, 1), height=FRAME_HEIGHT)


def _layer(layer: LayerAttention, number: int) -> Markup:
    figures = [draw_token_heatmap(attention_heatmap(layer), ident=f"strips-{number}")]
    longest_side = max(len(layer.tokens), len(layer.query_tokens))
    if longest_side <= MAX_MAP_TOKENS and not layer.has_learned_queries:
        maps = [
            draw_attention_map(
                AttentionMap(f"head {head}", layer.query_tokens, layer.tokens, weights.tolist()),
                ident=f"map-{number}-{head}",
            )
            for head, weights in enumerate(layer.alignment, start=1)
        ]
        figures.append(tag("div", *maps, class_="beside"))
    return tag("div", *figures)
