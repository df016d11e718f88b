"""Alignments of one text as a page: strips of tokens for every head, and maps where they can be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.inspection.attention_weights import LayerAlignment
from seqlab.pages.charts.attention_map import AlignmentMap, draw_alignment
from seqlab.pages.charts.token_heatmap import Strip, TokenStrips, draw_token_strips
from seqlab.pages.html import Markup, tag
from seqlab.pages.page import Section, page

MOST_IN_A_MAP = 40
"""Tokens up to which a map of all pairs is drawn."""


def write_alignments(alignments: Sequence[LayerAlignment], path: str | Path) -> Path:
    """Write the page, which needs no other file, and return where it is."""
    if not alignments:
        raise UsageError("there are no alignments to draw.", cure="alignments_of(run, text) gives them.")
    sections = [Section(f"look-{number}", layer.title, _layer(layer, number)) for number, layer in enumerate(alignments, start=1)]
    write_whole(Path(path), page(title="Where it looks", subtitle=" ".join(alignments[0].tokens), created="", notices=(), sections=sections))
    return Path(path)


def strips_of(layer: LayerAlignment) -> TokenStrips:
    """One strip for each learned query; for self-attention one for each head: the weight that a token gets on average over all that look."""
    if layer.has_learned_queries:
        strips = [Strip(name, weights.tolist()) for name, weights in zip(layer.looking, layer.alignment[0], strict=True)]
        return TokenStrips("Where each learned query looks", layer.tokens, strips)
    means = layer.alignment.mean(axis=1)  # (heads, source)
    strips = [Strip(f"head {head}", weights.tolist()) for head, weights in enumerate(means, start=1)]
    return TokenStrips("How much each token is looked at, on average", layer.tokens, strips)


def _layer(layer: LayerAlignment, number: int) -> Markup:
    drawn = [draw_token_strips(strips_of(layer), ident=f"strips-{number}")]
    if len(layer.tokens) <= MOST_IN_A_MAP and not layer.has_learned_queries:
        maps = [
            draw_alignment(AlignmentMap(f"head {head}", layer.looking, layer.tokens, weights.tolist()), ident=f"map-{number}-{head}")
            for head, weights in enumerate(layer.alignment, start=1)
        ]
        drawn.append(tag("div", *maps, class_="beside"))
    return tag("div", *drawn)
