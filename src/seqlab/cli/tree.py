"""The search tree of a beam, as an image or a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole

if TYPE_CHECKING:
    from seqlab.runs.run import Run
    from seqlab.tasks.prediction import Prediction

ENDINGS = (".svg", ".html")


def check_tree(file: str, texts: Sequence[str], *, others: Mapping[str, bool]) -> None:
    """Reject a wrong `--tree FILE` before a run is loaded. others: options that cannot be combined with it,
    and whether they are set.
    """
    if Path(file).suffix not in ENDINGS:
        raise UsageError(
            f"--tree {file} ends in neither .svg nor .html.",
            cure="Name an image (tree.svg) or a page (tree.html).",
        )
    if len(texts) != 1:
        raise UsageError(
            f"--tree draws the search for exactly one text, found {len(texts)}.",
            cure='For example: seqlab predict RUN "A text." --beam 3 --tree t.svg',
        )
    if wrong := [option for option, is_given in others.items() if is_given]:
        raise UsageError(
            f"--tree and {' and '.join(wrong)} are mutually exclusive.", cure="Pass one or the other."
        )


def draw_tree(run: Run, text: str, file: str, *, top: int) -> Prediction:
    """Predict as without a tree, and write the figure to the file."""
    from seqlab.pages.charts.beam_tree import BeamTree, beam_tree_diagram, render_beam_tree
    from seqlab.pages.charts.diagram import render_svg

    prediction, candidates = run.search_tree(text, top=top)
    tree = BeamTree.from_data(
        candidates, title=f"Beam search, beam size {run.recipe.decoding.beam}", source=text
    )
    path = Path(file)
    write_whole(
        path, render_svg(beam_tree_diagram(tree)) if path.suffix == ".svg" else render_beam_tree(tree)
    )
    return prediction
