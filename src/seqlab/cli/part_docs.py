"""Docstrings of registered parts, read from their files, so that `explain` does not wait for torch."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from importlib import util
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent
from typing import Any

from seqlab.cli.kinds import KINDS, RegisteredParts

_PAPER = re.compile(r"\bPapers?: .+")
CELL_SHAPES = {
    "x": "(batch, input)",
    "hidden": "(batch, hidden)",
    "cell_state": "(batch, hidden)",
    "W": "(gates · hidden, input)",
    "U": "(gates · hidden, hidden)",
}
"""Shapes of the variables in the equations of cells."""
PROJECTED_SHAPES = {
    **CELL_SHAPES,
    "hidden": "(batch, proj)",
    "U": "(gates · hidden, proj)",
    "R": "(proj, hidden)",
}
SHAPES = {
    "attention": "q is (batch, target, query), k (batch, source, key), the scores (batch, target, source)",
    "positions": "x is (batch, time, hidden), queries and keys (batch, heads, time, head_size)",
}
"""Shapes of the variables in the equations of other kinds."""


MODEL_PAGES = {
    **dict.fromkeys(("bilstm", "bigru", "birnn"), "docs/concepts/deep_and_bidirectional.md"),
    **dict.fromkeys(("cnn2d", "image_convolutional"), "docs/concepts/vision.md"),
    "recurrent": "docs/concepts/recurrent_networks.md",
    "fixed_window": "docs/concepts/language_models.md",
    **dict.fromkeys(("linear", "nlinear"), "docs/tutorials/forecasting.md"),
}
"""Pages of models that share their name with neither a cell nor a term."""
DATASET_PAGES = {
    "languages": "docs/get_started/first_model.md",
    "digits": "docs/concepts/vision.md",
    **dict.fromkeys(("moving_ball", "recall"), "docs/guides/order_and_memory.md"),
    **dict.fromkeys(("python_tokens", "punctuation"), "docs/tutorials/tagging.md"),
    **dict.fromkeys(("pydoc", "stdlib"), "docs/tutorials/language_model.md"),
    **dict.fromkeys(("dates", "numbers", "copy", "reverse"), "docs/tutorials/translation.md"),
    "shapes": "docs/tutorials/captioning.md",
}


@dataclass(frozen=True)
class PartDescription:
    """A registered part: its kind and name, and what its docstring says.

    parameters: the formula of the parameter count, and its value at the default size. page: the path of its
    page in the repository.
    """

    kind: str
    name: str
    summary: str
    equations: list[str]
    shapes: str = ""
    parameters: str = ""
    paper: str = ""
    page: str = ""

    @property
    def title(self) -> str:
        return f"{KINDS[self.kind].singular} {self.name}"

    @property
    def details(self) -> list[str]:
        """The lines below its summary and equations."""
        parameters = f"parameters: {self.parameters}" if self.parameters else ""
        return [line for line in (self.shapes, parameters, self.paper) if line]


def describe_part(kind: str, name: str) -> PartDescription:
    """
    >>> describe_part("attention", "general").equations
    ['score(q, k) = qᵀ W k']
    """
    docstring = _docstring(kind, name)
    equations = equations_of(docstring)
    return PartDescription(
        kind,
        name,
        KINDS[kind].summary(name),
        equations,
        shapes=_shapes(kind, name, equations),
        parameters=_parameters(kind, name),
        paper=_paper(docstring),
        page=_page(kind, name),
    )


def equations_of(docstring: str) -> list[str]:
    """The first indented block of a docstring.

    >>> equations_of("A cell.\\n\\n    h' = x\\n    y = h'\\n\\nPaper: none.")
    ["h' = x", "y = h'"]
    """
    blocks = [block for block in docstring.split("\n\n") if block.startswith("    ")]
    return dedent(blocks[0]).splitlines() if blocks else []


def _shapes(kind: str, name: str, equations: list[str]) -> str:
    """Shapes of the variables that the equations use.

    >>> _shapes("cells", "min_gru", ["candidate = W_h x + b_h", "hidden' = hidden + candidate"])
    'shapes: x (batch, input), hidden (batch, hidden), W (gates · hidden, input)'
    """
    if kind != "cells":
        return SHAPES.get(kind, "") if equations else ""
    shapes = PROJECTED_SHAPES if name == "projected_lstm" else CELL_SHAPES
    used = [
        f"{variable} {shape}"
        for variable, shape in shapes.items()
        if re.search(rf"\b{variable}(_\w)?\b", "\n".join(equations))
    ]
    return f"shapes: {', '.join(used)}" if used else ""


def _paper(docstring: str) -> str:
    """
    >>> _paper("A cell.\\n\\nIt forgets. Paper: Elman 1990,\\nCognitive Science.\\n\\nMore.")
    'Paper: Elman 1990, Cognitive Science.'
    """
    paragraphs = [" ".join(paragraph.split()) for paragraph in docstring.split("\n\n")]
    return next((match[0] for text in paragraphs if (match := _PAPER.search(text))), "")


def _docstring(kind: str, name: str) -> str:
    """The docstring of the class of a built-in part; empty where no class is registered."""
    kind_of_part = KINDS[kind]
    if not isinstance(kind_of_part, RegisteredParts):
        return ""
    registry = kind_of_part.load()
    module = registry.built_in_module(name)
    if not module:
        part: Any = registry.get(name)
        return cleandoc(part.__doc__ or "")
    spec = util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and _registers(node, name)]
    return (ast.get_docstring(classes[0]) or "") if classes else ""


def _registers(node: ast.ClassDef, name: str) -> bool:
    return any(repr(name) in ast.unparse(decorator) for decorator in node.decorator_list)


def _parameters(kind: str, name: str) -> str:
    from seqlab.models.parameter_formulas import model_formula, positions_formula, score_formula
    from seqlab.models.presets import MODEL_PRESETS

    if kind == "models" and name in MODEL_PRESETS:
        preset = MODEL_PRESETS[name]
        return f"{preset.parameters:,} with its {preset.vocabulary_size:,} tokens"

    formulas = {"models": model_formula, "attention": score_formula, "positions": positions_formula}
    formula = formulas[kind](name) if kind in formulas else None
    return str(formula) if formula else ""


def _page(kind: str, name: str) -> str:
    pages = {
        "tasks": f"docs/tutorials/{name}.md",
        "models": MODEL_PAGES.get(name, ""),
        "cells": f"docs/concepts/cells/{name}.md",
        "attention": f"docs/concepts/attention/{name}.md",
        "datasets": DATASET_PAGES.get(name, ""),
        "recipes": f"docs/recipes/{name}.md",
        "positions": "docs/concepts/positions.md",
        "optimizers": "docs/concepts/optimization.md",
        "tokens": "docs/concepts/embeddings_and_tokenization.md",
        "formats": "docs/reference/file_formats.md",
        "studies": "docs/guides/studies.md",
    }
    kind_of_part = KINDS[kind]
    is_plugin = isinstance(kind_of_part, RegisteredParts) and not kind_of_part.load().built_in_module(name)
    return "" if is_plugin else pages.get(kind, "")
