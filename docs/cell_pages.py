"""Writes docs/concepts/cells/*.md from the cells themselves and the words below: `python docs/cell_pages.py`.

A test compares the two.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path

from seqlab.cells.base import cells
from seqlab.cells.settings import CELL_KINDS
from seqlab.core.settings import describe
from seqlab.models.parameter_formulas import CELLS

FOLDER = Path(__file__).parent / "concepts" / "cells"
INTRODUCTION = (
    "One step of recurrence in many forms. Each is one file with its equations above the code; each walks in"
    " any stack, direction and task."
)


@dataclass(frozen=True)
class About:
    """What the code cannot say of itself."""

    idea: str
    use: str
    gates: tuple[str, ...] = ()
    state: str = "hidden"
    notation: str = ""
    """The letters of well-known books for the same equations."""


LSTM_GATES = ("input", "forget", "output")
ABOUT: dict[str, About] = {
    "rnn": About(
        "The new state is a bent sum of the input and the old state. It is the smallest thing that has a"
        " memory, and the one whose gradients vanish first.",
        "As the baseline, for short sequences, and wherever the equations are to be followed by hand. With"
        " relu and the identity as start it reaches further.",
    ),
    "lstm": About(
        "A memory runs along the sequence and changes only by adding: one gate keeps it, one writes, one"
        " shows it. Gradients follow the memory back without passing a matrix.",
        "The first choice for text and for anything with long memory; it can also count. Start the forget"
        " bias high (3 to 5) when what matters lies far back.",
        LSTM_GATES,
        "hidden, cell_state",
        "Goodfellow et al. 2016 (section 10.10.1) write s for the cell state, g for the input gate, f for the"
        " forget gate and q for the output gate.",
    ),
    "peephole_lstm": About(
        "An LSTM whose gates also look at the memory they guard. The gates can then act on an exact count or"
        " on the time since an event.",
        "For precise timing and counting. With a full matrix for each peephole it costs 3 · h · h more"
        " parameters, with the diagonal hardly any.",
        LSTM_GATES,
        "hidden, cell_state",
    ),
    "coupled_lstm": About(
        "An LSTM that writes exactly where it forgets. The memory is a running mean of what was written, so"
        " it saves a quarter of the parameters and loses the ability to add up.",
        "When parameters or time are short and nothing has to be counted; `seqlab study counting` shows the"
        " limit.",
        ("forget", "output"),
        "hidden, cell_state",
    ),
    "layer_norm_lstm": About(
        "An LSTM whose sums and memory are normalised over the units at every step. The scale of its"
        " activations no longer depends on the sequence.",
        "For large learning rates, small batches and deep stacks; each step costs more time than that of the"
        " plain LSTM.",
        LSTM_GATES,
        "hidden, cell_state",
    ),
    "projected_lstm": About(
        "An LSTM that shows a smaller projection of its hidden state. The memory stays wide while the"
        " recurrent matrix becomes narrow.",
        "For wide memories at a bounded cost, as in speech recognition.",
        LSTM_GATES,
        "hidden (proj_size), cell_state",
    ),
    "gru": About(
        "One gate mixes the old state with a candidate, another decides how much of the old state the"
        " candidate sees. It has no separate memory. The reset acts after the recurrent product, as in torch,"
        " Keras and cuDNN.",
        "Where an LSTM is used: three quarters of its parameters and often the same quality. It cannot count,"
        " since it only mixes.",
        ("reset", "update"),
    ),
    "reset_before_gru": About(
        "The GRU as first published: the reset gate chooses units of the old state before the recurrent"
        " product. That is another function than torch's GRU.",
        "To load weights of libraries that follow the paper, or to repeat published numbers.",
        ("reset", "update"),
    ),
    "single_gate": About(
        "One gate decides between the old state and a new candidate, and there is nothing else. It is a GRU"
        " whose reset gate is always open.",
        "As the smallest gated cell: half of an LSTM's parameters, and the easiest one to look into.",
        ("update",),
    ),
    "additive": About(
        "The update that all gated cells share, for any candidate: keep a part of the old state, add the rest"
        " of something new. The state is a weighted sum of all candidates so far.",
        "To try candidates of your own, and to see recurrence as attention with dependent weights.",
        ("gate",),
    ),
    "orthogonal_rnn": About(
        "A plain cell whose recurrent matrix is a rotation and stays one while it is trained. Nothing that it"
        " carries grows or fades by the matrix.",
        "For long memory without gates; with `radius` the singular values may leave 1 by as much.",
    ),
    "min_gru": About(
        "A linear recurrence: gate and candidate see only the input, so all products are done before the walk"
        " begins. What is left of a step is one multiplication and one addition per unit.",
        "For very long sequences and speed, in several layers: one layer alone cannot react to its own"
        " state.",
        ("update",),
    ),
}


def page(name: str) -> str:
    """The page of one cell."""
    cell, about = cells.get(name), ABOUT[name]
    lines = [
        f"# {name}",
        "",
        about.idea,
        "",
        f"![One step of {name}]({name}.svg)",
        "",
        "## Equations",
        "",
        "```text",
        *equations(cell),
        "```",
        "",
        *([about.notation, ""] if about.notation else []),
    ]
    lines += [
        *papers(cell),
        f"- File: `src/seqlab/cells/{name}.py`",
        f"- State: {about.state}",
        f"- Parameters: `{CELLS[name]}`",
        "",
    ]
    lines += [
        "## When to use it",
        "",
        about.use,
        "",
        "    " + command(name),
        "",
        "## Options",
        "",
        "| option | kind | default | |",
        "|---|---|---|---|",
    ]
    for entry in describe(CELL_KINDS[name], prefix="model.cell."):
        if entry.name != "model.cell.kind":
            lines.append(
                f"| `{entry.name}` | {entry.kind.replace('|', 'or')} | `{entry.default!r}` |"
                f" {entry.sentence} |"
            )
    return "\n".join([*lines, "", "[All cells](index.md)", ""])


def index() -> str:
    """All cells in one table, and the pictures that concern them all."""
    lines = ["# Cells", "", INTRODUCTION, ""]
    lines += ["| cell | gates | state | parameters | |", "|---|---|---|---|---|"]
    for name, about in ABOUT.items():
        first = about.idea.partition(". ")[0].removesuffix(".")
        lines.append(
            f"| [{name}]({name}.md) | {', '.join(about.gates) or 'none'} | {about.state} |"
            f" `{CELLS[name]}` | {first}. |"
        )
    lines += [
        "",
        (
            "i is the size of the input, h that of the state, p that of the projection; biases and default"
            " options are counted."
        ),
        "",
    ]
    for title, picture, sentence in PICTURES:
        lines += [f"## {title}", "", sentence, "", f"![{title}](../../pictures/{picture}.svg)", ""]
    return "\n".join(lines)


PICTURES = [
    (
        "A cell and its copies",
        "unrolled_copies",
        "A recurrent network is one cell, applied again and again with the same weights.",
    ),
    (
        "Several layers",
        "layer_graph",
        (
            "A layer reads the layer below at the same step and itself at the step before. Boxes on one"
            " diagonal could run together."
        ),
    ),
    (
        "The way back",
        "back_propagation",
        (
            "One gradient per step serves both weights, with what the way forward kept."
            " `cells/derivations/hand_gradients.py` writes it out."
        ),
    ),
    (
        "Activations",
        "activations",
        "What bends the sums. A slope above 1 occurs nowhere: only the matrices can make a gradient grow.",
    ),
]


def equations(cell: type) -> list[str]:
    """The indented lines of the docstring."""
    lines = (inspect.getdoc(cell) or "").splitlines()
    found = [line[4:] for line in lines if line.startswith("    ") or not line.strip()]
    text = "\n".join(found).strip("\n")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.split("\n")


def papers(cell: type) -> list[str]:
    """The paragraph of the docstring that begins with where the cell comes from."""
    lines = (inspect.getdoc(cell) or "").splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(("Paper: ", "Papers: "))]
    if not starts:
        return []
    rest = [*lines[starts[0] :], ""]
    return [f"- {' '.join(rest[: rest.index('')])}"]


def command(name: str) -> str:
    return f"seqlab train FILE --model {name}"


if __name__ == "__main__":
    for name in cells.names():
        (FOLDER / f"{name}.md").write_text(page(name), encoding="utf-8")
    (FOLDER / "index.md").write_text(index(), encoding="utf-8")
