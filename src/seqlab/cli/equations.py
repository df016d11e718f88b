"""The equations of a built-in cell, read from its file: `explain` must not wait for torch."""

from __future__ import annotations

import ast
from importlib import util
from pathlib import Path
from textwrap import dedent


def cell_equations(name: str) -> list[str]:
    """The lines of the equations in the docstring of a cell; empty for a cell of a plug-in.

    >>> cell_equations("rnn")
    ["hidden' = activation(W x + U hidden + b)"]
    """
    from seqlab.cells.registry import cells

    module = cells.built_in_module(name)
    spec = util.find_spec(module) if module else None
    if spec is None or spec.origin is None:
        return []
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and _registers(node, name)]
    return _indented(ast.get_docstring(classes[0]) or "") if classes else []


def _registers(node: ast.ClassDef, name: str) -> bool:
    return any(repr(name) in ast.unparse(decorator) for decorator in node.decorator_list)


def _indented(docstring: str) -> list[str]:
    """
    >>> _indented("A cell.\\n\\n    h' = x\\n    y = h'\\n\\nPaper: none.")
    ["h' = x", "y = h'"]
    """
    blocks = [block for block in docstring.split("\n\n") if block.startswith("    ")]
    return dedent(blocks[0]).splitlines() if blocks else []
