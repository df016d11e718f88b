"""Writes the pictures of the documents from the code that draws them: `python docs/pictures.py`. A test compares the two.

What trained networks see is read from pictures/looks.json, which trained_looks.py writes, and pictures/picture_looks.json, of picture_looks.py;
pictures/surprisal.json is of `seqlab predict --score --json`.
"""

from __future__ import annotations

import json
from pathlib import Path

from seqlab.cells.activations import ACTIVATIONS, curve
from seqlab.cells.base import cells
from seqlab.pages.charts.activation_curves import activation_curves
from seqlab.pages.charts.attention_map import AlignmentMap, draw_alignment
from seqlab.pages.charts.beam_tree import BeamTree, beam_tree_drawing
from seqlab.pages.charts.cell_diagrams import cell_diagram
from seqlab.pages.charts.diagram import as_file, standalone
from seqlab.pages.charts.embedding_map import PlaneWord, WordPlane, draw_word_plane
from seqlab.pages.charts.image_attention import Look, Spotlights, draw_spotlights
from seqlab.pages.charts.position_curves import position_curves
from seqlab.pages.charts.recurrent_graphs import back_propagation_graph, layer_graph, unrolled_copies
from seqlab.pages.charts.token_heatmap import Strip, TokenStrips, draw_token_strips
from seqlab.positions.sinusoidal import sinusoid_curves
from seqlab.studies.attention_steps import steps_picture

HERE = Path(__file__).parent


def pictures() -> dict[Path, str]:
    """Every picture by the file it belongs in."""
    found = {HERE / "cells" / f"{name}.svg": standalone(cell_diagram(name)) for name in cells.names()}
    drawings = {
        "unrolled_copies": unrolled_copies(),
        "layer_graph": layer_graph(),
        "back_propagation": back_propagation_graph(),
        "positions": position_curves(sinusoid_curves([4, 5, 6, 7], size=20, places=100)),
        "activations": activation_curves([curve(name) for name in ACTIVATIONS]),
        "beam_tree": beam_tree_drawing(beam_tree()),
    }
    found |= {HERE / "pictures" / f"{name}.svg": standalone(drawing) for name, drawing in drawings.items()}
    found |= {HERE / "pictures" / f"{name}.svg": as_file(draw_token_strips(strips, ident=name)) for name, strips in looks().items()}
    found |= {HERE / "pictures" / f"{name}.svg": as_file(draw_spotlights(lights, ident=name)) for name, lights in spotlights().items()}
    found |= {HERE / "pictures" / f"{name}.svg": as_file(draw_token_strips(strips, ident=name)) for name, strips in surprisals().items()}
    found |= {HERE / "pictures" / f"{name}.svg": as_file(draw_word_plane(plane, ident=name)) for name, plane in word_planes().items()}
    found[HERE / "pictures" / "dates_looks.svg"] = as_file(draw_alignment(dates_looks(), ident="dates"))
    found[HERE / "pictures" / "translation_looks.svg"] = as_file(draw_alignment(translation_looks(), ident="translation"))
    return found | {HERE / "pictures" / "attention_steps.svg": as_file(steps_picture())}


def beam_tree() -> BeamTree:
    """The search of docs/rooms/decoding.md."""
    kept = json.loads((HERE / "pictures" / "beam_tree.json").read_text(encoding="utf-8"))
    return BeamTree.of(kept["data"], title=kept["title"], source=kept["source"])


def dates_looks() -> AlignmentMap:
    """Where the decoder of docs/tasks/translation.md looked while it wrote a date: `run.task.looks(run.model, "dimanche 27 février 2011")`."""
    kept = json.loads((HERE / "pictures" / "dates_looks.json").read_text(encoding="utf-8"))
    return AlignmentMap("dimanche 27 février 2011 → 2011-02-27", kept["written"], kept["read"], kept["weights"])


def translation_looks() -> AlignmentMap:
    """Where the run of docs/recipes/multi30k-gru.md looked: `run.task.looks(run.model, "A woman holding a bowl of food in a kitchen.")`."""
    kept = json.loads((HERE / "pictures" / "translation_looks.json").read_text(encoding="utf-8"))
    return AlignmentMap("A woman holding a bowl of food in a kitchen.", kept["written"], kept["read"], kept["weights"])


def looks() -> dict[str, TokenStrips]:
    """Where trained networks looked."""
    kept = json.loads((HERE / "pictures" / "looks.json").read_text(encoding="utf-8"))
    return {name: TokenStrips(**{**look, "strips": [Strip(**strip) for strip in look["strips"]]}) for name, look in kept.items()}


def surprisals() -> dict[str, TokenStrips]:
    """How surprising the characters of three texts were to a small language model: the numbers of docs/tasks/language_model.md."""
    texts = json.loads((HERE / "pictures" / "surprisal.json").read_text(encoding="utf-8"))
    darkest = max(max(text["bits"]) for text in texts.values())
    return {
        f"surprisal_{name}": TokenStrips(text["text"], text["tokens"], [Strip("bits", text["bits"])], darkest=darkest) for name, text in texts.items()
    }


def spotlights() -> dict[str, Spotlights]:
    """Where trained networks looked in pictures."""
    kept = json.loads((HERE / "pictures" / "picture_looks.json").read_text(encoding="utf-8"))
    return {name: Spotlights(**{**lights, "looks": [Look(**look) for look in lights["looks"]]}) for name, lights in kept.items()}


def word_planes() -> dict[str, WordPlane]:
    """Words by their vectors; word_planes.py keeps the numbers."""
    kept = json.loads((HERE / "pictures" / "word_planes.json").read_text(encoding="utf-8"))
    return {name: WordPlane(**{**plane, "words": [PlaneWord(**word) for word in plane["words"]]}) for name, plane in kept.items()}


if __name__ == "__main__":
    for path, text in pictures().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
