"""Determine the depth of a parameter in a network from its name.

All models name their parts alike: `embed` encodes the inputs, `backbone` holds the layers
(`backbone.layers.3.…`, or `backbone.stack.layers.3.…` for recurrent layers), and everything else belongs to
the head.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

IN_LAYER = re.compile(r"backbone\.(?:[a-z_]+\.)*?layers\.(\d+)\.")
ENTRANCE = ("embed.", "backbone.positions.", "backbone.first_norm.")
"""Parts before the first layer."""


def depth_of(name: str, *, num_layers: int) -> int:
    """Return 0 for the embedding, 1 for the lowest layer, and the number of layers plus 1 for everything
    after them.

    >>> names = ("embed.weight", "backbone.layers.0.norm.weight", "backbone.stack.layers.1.cell.input", "head.bias")
    >>> [depth_of(name, num_layers=2) for name in names]
    [0, 1, 2, 3]
    """
    if match := IN_LAYER.match(name):
        return int(match[1]) + 1
    return 0 if name.startswith(ENTRANCE) else num_layers + 1


def count_layers(names: Iterable[str]) -> int:
    """Count the layers of a network from the names of its parameters.

    >>> count_layers(["embed.weight", "backbone.layers.0.norm.weight", "backbone.layers.1.norm.weight"])
    2
    """
    return max((int(match[1]) + 1 for name in names if (match := IN_LAYER.match(name))), default=0)


def rate_factors(names: Iterable[str], *, layer_decay: float) -> dict[str, float]:
    """factor = layer_decay^(levels below the head): 1 for the head, layer_decay for the top layer, and the
    smallest factor for the embedding.

    Papers: Howard & Ruder 2018, "Universal Language Model Fine-tuning for Text Classification",
    arXiv:1801.06146, section 3.2; Clark et al. 2020, "ELECTRA", arXiv:2003.10555, appendix A.

    >>> rate_factors(["embed.weight", "backbone.layers.0.norm.weight", "head.bias"], layer_decay=0.5)
    {'embed.weight': 0.25, 'backbone.layers.0.norm.weight': 0.5, 'head.bias': 1.0}
    """
    names = list(names)
    top = count_layers(names) + 1
    return {name: layer_decay ** (top - depth_of(name, num_layers=top - 1)) for name in names}
