"""How many parameters a part has, by formula. No torch here: `explain` must not wait for it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.fixed_window import FixedWindowSettings
from seqlab.models.settings.images import ImageConvolutionalSettings, VisionTransformerSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.summaries import MODEL_SYNONYMS

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
CONVOLUTIONAL = "L · (k · d · d + d · d + 4 · d) + 2 · d"
"""L layers of width d with kernels of k steps: convolution, projection, norm; a last norm."""
IMAGE_CONVOLUTIONAL = "9 · c · d + (2 · L - 1) · 9 · d · d + 4 · L · d"
"""L stages of two convolutions of 3 by 3 with d channels, each with a norm, over images of c channels."""
LINEAR_FORECAST = "h · (w + 1) + h · t · q"
"""From a window of w steps to h steps, for t targets of q numbers each; without columns known in advance."""
SCORES = {
    "additive": "a · (q + k + 1)",
    "concat": "a · (q + k + 1)",
    "dot": "0",
    "general": "q · k",
    "scaled_dot": "0",
}
"""q and k: widths of query and key, a: width of the inner layer."""
POSITIONS = {
    "alibi": "0",
    "learned": "n · d",
    "none": "0",
    "relative": "b · H",
    "rotary": "0",
    "sinusoidal": "0",
}
"""n = max_positions, d = hidden_size; b buckets of distances, H heads."""
BUCKETS, PROJECTION = 32, 64
"""Defaults that are not model settings: distances of relative positions, width of a projected LSTM."""
OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
}


@dataclass(frozen=True)
class ParameterFormula:
    """A number of parameters. sizes: the default value of every symbol. meanings: what each symbol is."""

    text: str
    sizes: Mapping[str, int]
    meanings: Mapping[str, str]

    def count(self) -> int:
        return count_parameters(self.text, self.sizes)

    def __str__(self) -> str:
        """
        >>> str(ParameterFormula("n · d", {"n": 10, "d": 200}, {"n": "positions", "d": "hidden"}))
        'n · d; 2,000 with positions n = 10, hidden d = 200'
        """
        if not self.sizes:
            return "none"
        chosen = ", ".join(
            f"{self.meanings[letter]} {letter} = {size}" for letter, size in self.sizes.items()
        )
        return f"{self.text}; {self.count():,} with {chosen}"


def model_formula(name: str) -> ParameterFormula | None:
    """The formula of a model without its embedding and its output layer; none for published models, whose
    summary has their number, and for models of plug-ins.

    >>> str(model_formula("lstm"))
    '4 · h · (i + h + 1); 525,312 with input i = 256, hidden h = 256'
    """
    name = MODEL_SYNONYMS.get(name, name)
    if name in CELLS:
        return _cell(CELLS[name])
    if name.startswith("bi") and name[2:] in CELLS:
        return _cell(f"2 · ({CELLS[name[2:]]})")
    return _NETWORKS[name]() if name in _NETWORKS else None


def score_formula(name: str) -> ParameterFormula | None:
    """The formula of an attention score between two vectors of the default width of a recurrent network."""
    size = RecurrentSettings().hidden_size
    sizes, meanings = {"a": size, "q": size, "k": size}, {"a": "inner layer", "q": "query", "k": "key"}
    return _chosen(SCORES[name], sizes, meanings) if name in SCORES else None


def positions_formula(name: str) -> ParameterFormula | None:
    """The formula of a positional encoding in a Transformer of the default size."""
    settings = TransformerSettings()
    sizes = {"n": settings.max_positions, "d": settings.hidden_size, "b": BUCKETS, "H": settings.heads}
    meanings = {"n": "positions", "d": "hidden", "b": "buckets", "H": "heads"}
    return _chosen(POSITIONS[name], sizes, meanings) if name in POSITIONS else None


def count_parameters(formula: str, sizes: Mapping[str, int]) -> int:
    """
    >>> count_parameters("h · (i + 1) + h · (h - 1) / 2", {"i": 3, "h": 4})
    22
    """
    return _value(ast.parse(formula.replace("·", "*"), mode="eval").body, sizes)


def _cell(text: str) -> ParameterFormula:
    hidden = RecurrentSettings().hidden_size
    sizes = {"i": RecurrentSettings().embedding_size or hidden, "h": hidden, "p": PROJECTION}
    return _chosen(text, sizes, {"i": "input", "h": "hidden", "p": "projection"})


def _transformer() -> ParameterFormula:
    settings = TransformerSettings()
    return ParameterFormula(
        TRANSFORMER, _transformer_sizes(settings), {"L": "layers", "d": "hidden", "f": "feed-forward"}
    )


def _transformer_sizes(settings: TransformerSettings) -> dict[str, int]:
    width = settings.hidden_size
    return {"L": settings.layers, "d": width, "f": settings.feedforward_size or 4 * width}


def _vision_transformer() -> ParameterFormula:
    """For images of two by two patches, such as the dataset digits."""
    settings = VisionTransformerSettings()
    sizes = _transformer_sizes(settings) | {"c": settings.channels, "p": settings.patch_size, "n": 4}
    meanings = {
        "L": "layers",
        "d": "hidden",
        "f": "feed-forward",
        "c": "channels",
        "p": "patch",
        "n": "patches",
    }
    return ParameterFormula(f"{TRANSFORMER} + d · (c · p · p + n + 3)", sizes, meanings)


def _convolutional() -> ParameterFormula:
    settings = ConvolutionalSettings()
    sizes = {"L": settings.layers, "k": settings.kernel_size, "d": settings.hidden_size}
    return ParameterFormula(CONVOLUTIONAL, sizes, {"L": "layers", "k": "kernel", "d": "hidden"})


def _fixed_window() -> ParameterFormula:
    settings = FixedWindowSettings()
    sizes = {"n": settings.context, "i": settings.embedding_size, "h": settings.hidden_size}
    return ParameterFormula("h · (n · i + 1)", sizes, {"n": "context", "i": "input", "h": "hidden"})


def _linear_forecast() -> ParameterFormula:
    """For a week of daily data with its default window and quantiles."""
    sizes = {"h": 7, "w": 21, "t": 1, "q": 7}
    meanings = {"h": "horizon", "w": "context", "t": "targets", "q": "quantiles"}
    return ParameterFormula(LINEAR_FORECAST, sizes, meanings)


def _image_convolutional(extra: str = "") -> ParameterFormula:
    settings = ImageConvolutionalSettings()
    sizes = {"c": settings.channels, "d": settings.hidden_size, "L": settings.layers}
    return ParameterFormula(
        IMAGE_CONVOLUTIONAL + extra, sizes, {"c": "channels", "d": "hidden", "L": "stages"}
    )


def _non_local() -> ParameterFormula:
    """Four projections between d channels and half as many."""
    return _image_convolutional(" + 2 · d · d")


_NETWORKS: dict[str, Callable[[], ParameterFormula]] = {
    "transformer": _transformer,
    "vision_transformer": _vision_transformer,
    "convolutional": _convolutional,
    "fixed_window": _fixed_window,
    "image_convolutional": _image_convolutional,
    "non_local": _non_local,
    "linear": _linear_forecast,
}


def _chosen(text: str, sizes: Mapping[str, int], meanings: Mapping[str, str]) -> ParameterFormula:
    """A formula with the sizes that it mentions."""
    letters = {node.id for node in ast.walk(ast.parse(text.replace("·", "*"))) if isinstance(node, ast.Name)}
    return ParameterFormula(
        text, {letter: size for letter, size in sizes.items() if letter in letters}, meanings
    )


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left, sizes), _value(node.right, sizes))
    if isinstance(node, ast.Name):
        return sizes[node.id]
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int)
    return node.value
