"""How many parameters a cell or a Transformer has, by formula. No torch here: `explain` must not wait for it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from seqlab.models.settings import RecurrentSettings, TransformerSettings

CELLS = {
    "rnn": "h · (i + h + 1)",
    "lstm": "4 · h · (i + h + 1)",
    "peephole_lstm": "4 · h · (i + h + 1) + 3 · h",
    "coupled_lstm": "3 · h · (i + h + 1)",
    "layer_norm_lstm": "4 · h · (i + h + 1) + 10 · h",
    "projected_lstm": "4 · h · (i + p + 1) + h · p",
    "gru": "3 · h · (i + h + 1) + h",
    "reset_before_gru": "3 · h · (i + h + 1)",
    "single_gate": "2 · h · (i + h + 1)",
    "additive": "2 · h · (i + h + 1)",
    "orthogonal_rnn": "h · (i + 1) + h · (h - 1) / 2 + h",
    "min_gru": "2 · h · (i + 1)",
}
"""With biases and the default options; i = input_size, h = hidden_size, p = proj_size."""
TRANSFORMER = "L · (4 · d · (d + 1) + 2 · d · f + f + 5 · d) + 2 · d"
"""L layers of width d with a feed-forward network of width f: attention, feed-forward, two norms; a last norm."""
OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
}


def describe_parameters(name: str) -> str:
    """The formula of a cell or of the Transformer, and its value for the default sizes; empty for other names.

    >>> describe_parameters("lstm")
    '4 · h · (i + h + 1); 525,312 with input i = 256, hidden h = 256'
    """
    if name == "transformer":
        settings = TransformerSettings()
        width = settings.hidden_size
        sizes = {"L": settings.layers, "d": width, "f": settings.feedforward_size or 4 * width}
        return _describe(TRANSFORMER, sizes, {"L": "layers", "d": "hidden", "f": "feed-forward"})
    if name not in CELLS:
        return ""
    hidden = RecurrentSettings().hidden_size
    sizes = {"i": RecurrentSettings().embedding_size or hidden, "h": hidden}
    meanings = {"i": "input", "h": "hidden"}
    if " p" in CELLS[name]:
        sizes["p"], meanings["p"] = hidden // 2, "projection"
    return _describe(CELLS[name], sizes, meanings)


def _describe(formula: str, sizes: Mapping[str, int], meanings: Mapping[str, str]) -> str:
    chosen = ", ".join(f"{meanings[letter]} {letter} = {size}" for letter, size in sizes.items())
    return f"{formula}; {count_parameters(formula, sizes):,} with {chosen}"


def count_parameters(formula: str, sizes: Mapping[str, int]) -> int:
    """
    >>> count_parameters("h · (i + 1) + h · (h - 1) / 2", {"i": 3, "h": 4})
    22
    """
    return _value(ast.parse(formula.replace("·", "*"), mode="eval").body, sizes)


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left, sizes), _value(node.right, sizes))
    if isinstance(node, ast.Name):
        return sizes[node.id]
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int)
    return node.value
