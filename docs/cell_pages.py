"""Writes docs/concepts/cells/*.md from the cells themselves and the words below: `python docs/cell_pages.py`.

A test compares the two.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path

from seqlab.cells.base import cells
from seqlab.cells.settings import CELL_KINDS
from seqlab.cli.part_docs import describe_part
from seqlab.cli.setting_help import format_value
from seqlab.core.settings import describe
from seqlab.models.parameter_formulas import CELLS

FOLDER = Path(__file__).parent / "concepts" / "cells"
INTRODUCTION = (
    "Variants of one recurrent step. Each is one file with its equations above the code, and each works in any"
    " stack, direction and task. The ideas behind them: [recurrent networks](../recurrent_networks.md),"
    " [LSTM](../lstm.md), [GRU](../gru.md)."
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
        "The new state is an activation of a weighted sum of the input and the old state. It is the simplest"
        " cell with a memory, and the one whose gradients vanish first.",
        "As a baseline, for short sequences, and to follow the equations by hand. With relu and an identity"
        " initialization it remembers longer.",
    ),
    "lstm": About(
        "A cell state runs along the sequence and changes only by addition: one gate keeps it, one writes to"
        " it, one shows it. Gradients can follow it back without passing through a matrix.",
        "The first choice for text and for anything that needs a long memory; it can also count. Start with a"
        " high forget bias (3 to 5) if the relevant input is far back.",
        LSTM_GATES,
        "hidden, cell_state",
        "Goodfellow et al. 2016 (section 10.10.1) write s for the cell state, g for the input gate, f for the"
        " forget gate and q for the output gate.",
    ),
    "peephole_lstm": About(
        "An LSTM whose gates also see the cell state. They can then react to an exact count or to the time"
        " since an event.",
        "For precise timing and counting. A full matrix for each peephole costs 3 · h · h more parameters, a"
        " diagonal hardly any.",
        LSTM_GATES,
        "hidden, cell_state",
    ),
    "coupled_lstm": About(
        "An LSTM that writes exactly where it forgets. Its cell state is a running average of the candidates,"
        " so it needs a quarter fewer parameters and cannot add up.",
        "When parameters or time are limited and nothing has to be counted; `seqlab study counting` shows the"
        " limit.",
        ("forget", "output"),
        "hidden, cell_state",
    ),
    "layer_norm_lstm": About(
        "An LSTM whose pre-activations and cell state are normalized over the units at every step. The scale"
        " of its activations no longer depends on the sequence.",
        "For high learning rates, small batches and deep stacks; each step is slower than one of a plain LSTM.",
        LSTM_GATES,
        "hidden, cell_state",
    ),
    "projected_lstm": About(
        "An LSTM that outputs a smaller projection of its hidden state. The cell state stays wide while the"
        " recurrent matrix becomes narrow.",
        "For a large memory at a limited cost, as in speech recognition.",
        LSTM_GATES,
        "hidden (proj_size), cell_state",
    ),
    "gru": About(
        "One gate blends the old state with a candidate, another decides how much of the old state the"
        " candidate sees. There is no separate cell state. The reset gate acts after the recurrent product, as"
        " in PyTorch, Keras and cuDNN.",
        "Wherever an LSTM is used: it has three quarters of the parameters and often the same quality. It"
        " cannot count, because it only averages.",
        ("reset", "update"),
    ),
    "reset_before_gru": About(
        "The GRU of the published paper: the reset gate acts on the old state before the recurrent product. This"
        " is a different function from PyTorch's GRU, which follows the paper's first draft.",
        "To load weights from libraries that follow the paper, or to reproduce published results.",
        ("reset", "update"),
    ),
    "single_gate": About(
        "A single gate chooses between the old state and a new candidate. It is a GRU whose reset gate is"
        " always open.",
        "As the smallest gated cell: half the parameters of an LSTM, and the easiest one to look into.",
        ("update",),
    ),
    "additive": About(
        "The update that all gated cells share, for any candidate: keep part of the old state and add the"
        " rest of a new candidate. The state is a weighted sum of all candidates so far.",
        "To try your own candidate functions, and to see recurrence as attention with dependent weights"
        " ([from gated recurrence to attention](../recurrence_to_attention.md)).",
        ("gate",),
    ),
    "orthogonal_rnn": About(
        "A plain cell whose recurrent matrix is a rotation and stays one during training. The matrix makes"
        " nothing grow or fade.",
        "For a long memory without gates; with `radius` the singular values may differ from 1 by that much.",
    ),
    "min_gru": About(
        "A linear recurrence: gate and candidate depend only on the input, so all matrix products are done"
        " before the scan. What remains per step is one multiplication and one addition per unit.",
        "For very long sequences and for speed, in several layers: a single layer cannot react to its own"
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
        *papers(name),
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
        "| option | type | default | meaning |",
        "|---|---|---|---|",
    ]
    for entry in describe(CELL_KINDS[name], prefix="model.cell."):
        if entry.name != "model.cell.kind":
            lines.append(
                f"| `{entry.name}` | {entry.kind.replace('|', 'or')} | `{format_value(entry.default)}` |"
                f" {entry.sentence} |"
            )
    return "\n".join([*lines, "", "[All cells](index.md)", ""])


def index() -> str:
    """All cells in one table, and the pictures that concern them all."""
    lines = ["# Cells", "", INTRODUCTION, ""]
    lines += ["| cell | gates | state | parameters | idea |", "|---|---|---|---|---|"]
    for name, about in ABOUT.items():
        first = about.idea.partition(". ")[0].removesuffix(".")
        lines.append(
            f"| [{name}]({name}.md) | {', '.join(about.gates) or 'none'} | {about.state} |"
            f" `{CELLS[name]}` | {first}. |"
        )
    lines += [
        "",
        (
            "i is the size of the input, h of the state, p of the projection. Biases are included, with the"
            " default options."
        ),
        "",
    ]
    for title, picture, sentence in PICTURES:
        lines += [f"## {title}", "", sentence, "", f"![{title}](../../pictures/{picture}.svg)", ""]
    return "\n".join(lines)


PICTURES = [
    (
        "A cell, unrolled",
        "unrolled_copies",
        "A recurrent network is one cell, applied at every step with the same weights.",
    ),
    (
        "Several layers",
        "layer_graph",
        (
            "A layer reads the layer below at the same step and itself at the previous step. Boxes on one"
            " diagonal could be computed in parallel."
        ),
    ),
    (
        "The backward pass",
        "back_propagation",
        (
            "One gradient per step serves both weight matrices, together with what the forward pass kept."
            " `cells/derivations/hand_gradients.py` writes it out."
        ),
    ),
    (
        "Activations",
        "activations",
        "No slope exceeds 1, so only the weight matrices can make a gradient grow.",
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


def papers(name: str) -> list[str]:
    """Where the cell comes from, as `seqlab explain` says it."""
    paper = describe_part("cells", name).paper
    return [f"- {paper}"] if paper else []


def command(name: str) -> str:
    return f"seqlab train FILE --model {name}"


if __name__ == "__main__":
    for name in cells.names():
        (FOLDER / f"{name}.md").write_text(page(name), encoding="utf-8")
    (FOLDER / "index.md").write_text(index(), encoding="utf-8")
