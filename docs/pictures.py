"""Writes the pictures of the documents from the code that draws them: `python docs/pictures.py`. A test
compares the two.

What trained networks see is read from pictures/looks.json, which trained_looks.py writes, and
pictures/picture_looks.json, of picture_looks.py; pictures/surprisal.json is of `seqlab predict --score
--json`.
"""

from __future__ import annotations

import json
from pathlib import Path

from seqlab.cells.activations import ACTIVATIONS, sample_activation
from seqlab.cells.base import cells
from seqlab.pages.charts.activation_curves import activation_curves
from seqlab.pages.charts.attention_map import AttentionMap, draw_attention_map
from seqlab.pages.charts.beam_tree import BeamTree, beam_tree_diagram
from seqlab.pages.charts.cell_diagrams import cell_diagram
from seqlab.pages.charts.diagram import render_svg, to_svg_file
from seqlab.pages.charts.embedding_map import EmbeddingMap, EmbeddingPoint, draw_embedding_map
from seqlab.pages.charts.image_attention import AttentionView, ImageAttentionMap, draw_image_attention
from seqlab.pages.charts.position_curves import position_curves
from seqlab.pages.charts.recurrent_graphs import backpropagation_graph, layer_graph, unrolled_graph
from seqlab.pages.charts.token_heatmap import HeatmapRow, TokenHeatmap, draw_token_heatmap
from seqlab.positions.sinusoidal import sinusoid_curves
from seqlab.studies.attention_steps import draw_attention_steps

HERE = Path(__file__).parent


def pictures() -> dict[Path, str]:
    """Every picture by the file it belongs in."""
    found = {
        HERE / "concepts" / "cells" / f"{name}.svg": render_svg(cell_diagram(name)) for name in cells.names()
    }
    drawings = {
        "unrolled_copies": unrolled_graph(),
        "layer_graph": layer_graph(),
        "back_propagation": backpropagation_graph(),
        "positions": position_curves(sinusoid_curves([4, 5, 6, 7], size=20, num_positions=100)),
        "activations": activation_curves([sample_activation(name) for name in ACTIVATIONS]),
        "beam_tree": beam_tree_diagram(beam_tree()),
    }
    found |= {HERE / "pictures" / f"{name}.svg": render_svg(drawing) for name, drawing in drawings.items()}
    found |= {
        HERE / "pictures" / f"{name}.svg": to_svg_file(draw_token_heatmap(strips, ident=name))
        for name, strips in looks().items()
    }
    found |= {
        HERE / "pictures" / f"{name}.svg": to_svg_file(draw_image_attention(lights, ident=name))
        for name, lights in spotlights().items()
    }
    found |= {
        HERE / "pictures" / f"{name}.svg": to_svg_file(draw_token_heatmap(strips, ident=name))
        for name, strips in surprisals().items()
    }
    found |= {
        HERE / "pictures" / f"{name}.svg": to_svg_file(draw_embedding_map(plane, ident=name))
        for name, plane in word_planes().items()
    }
    found[HERE / "pictures" / "dates_looks.svg"] = to_svg_file(
        draw_attention_map(dates_looks(), ident="dates")
    )
    found[HERE / "pictures" / "translation_looks.svg"] = to_svg_file(
        draw_attention_map(translation_looks(), ident="translation")
    )
    return found | {HERE / "pictures" / "attention_steps.svg": to_svg_file(draw_attention_steps())}


def beam_tree() -> BeamTree:
    """The search of docs/guides/decode.md."""
    kept = json.loads((HERE / "pictures" / "beam_tree.json").read_text(encoding="utf-8"))
    return BeamTree.from_data(kept["data"], title=kept["title"], source=kept["source"])


def dates_looks() -> AttentionMap:
    """The attention of docs/tutorials/translation.md over a date: `run.predictor.attend("dimanche 27 février
    2011")`.
    """
    kept = json.loads((HERE / "pictures" / "dates_looks.json").read_text(encoding="utf-8"))
    return AttentionMap(
        "dimanche 27 février 2011 → 2011-02-27", kept["written"], kept["read"], kept["weights"]
    )


def translation_looks() -> AttentionMap:
    """The attention of docs/recipes/multi30k-gru.md: `run.predictor.attend("A woman holding a bowl of food in
    a kitchen.")`.
    """
    kept = json.loads((HERE / "pictures" / "translation_looks.json").read_text(encoding="utf-8"))
    return AttentionMap(
        "A woman holding a bowl of food in a kitchen.", kept["written"], kept["read"], kept["weights"]
    )


def looks() -> dict[str, TokenHeatmap]:
    """Where trained networks looked."""
    kept = json.loads((HERE / "pictures" / "looks.json").read_text(encoding="utf-8"))
    return {
        name: TokenHeatmap(**{**look, "rows": [HeatmapRow(**strip) for strip in look["rows"]]})
        for name, look in kept.items()
    }


def surprisals() -> dict[str, TokenHeatmap]:
    """How surprising the characters of three texts were to a small language model: the numbers of
    docs/tutorials/language_model.md.
    """
    texts = json.loads((HERE / "pictures" / "surprisal.json").read_text(encoding="utf-8"))
    darkest = max(max(text["bits"]) for text in texts.values())
    return {
        f"surprisal_{name}": TokenHeatmap(
            text["text"], text["tokens"], [HeatmapRow("bits", text["bits"])], max_weight=darkest
        )
        for name, text in texts.items()
    }


def spotlights() -> dict[str, ImageAttentionMap]:
    """Where trained networks looked in pictures."""
    kept = json.loads((HERE / "pictures" / "picture_looks.json").read_text(encoding="utf-8"))
    return {
        name: ImageAttentionMap(**{**lights, "views": [AttentionView(**look) for look in lights["views"]]})
        for name, lights in kept.items()
    }


def word_planes() -> dict[str, EmbeddingMap]:
    """Words by their vectors; word_planes.py keeps the numbers."""
    kept = json.loads((HERE / "pictures" / "word_planes.json").read_text(encoding="utf-8"))
    return {
        name: EmbeddingMap(**{**plane, "words": [EmbeddingPoint(**word) for word in plane["words"]]})
        for name, plane in kept.items()
    }


if __name__ == "__main__":
    for path, text in pictures().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
