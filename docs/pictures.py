"""Writes the pictures of the documents from the code that draws them: `python docs/pictures.py`. A test compares the two."""

from __future__ import annotations

from pathlib import Path

from seqlab.cells.activations import ACTIVATIONS, curve
from seqlab.cells.base import cells
from seqlab.pages.activation_curves import activation_curves
from seqlab.pages.cell_diagrams import cell_diagram
from seqlab.pages.drawing import standalone
from seqlab.pages.position_curves import position_curves
from seqlab.pages.recurrent_graphs import back_propagation_graph, layer_graph, unrolled_copies
from seqlab.positions.sinusoidal import sinusoid_curves

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
    }
    return found | {HERE / "pictures" / f"{name}.svg": standalone(drawing) for name, drawing in drawings.items()}


if __name__ == "__main__":
    for path, text in pictures().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
