"""Train, compare and inspect sequence models, from plain RNNs to Transformers.

>>> import seqlab
>>> run = seqlab.train("reviews.csv", model="lstm", minutes=5)   # doctest: +SKIP
>>> run.predict(["not bad at all"])                              # doctest: +SKIP
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqlab import errors, nn, register
    from seqlab.api import compare, find_learning_rate, load, train
    from seqlab.metrics.score import Score
    from seqlab.runs.run import Run
    from seqlab.tasks.prediction import Prediction
    from seqlab.trainer import Trainer

__all__ = [
    "Prediction",
    "Run",
    "Score",
    "Trainer",
    "__version__",
    "compare",
    "errors",
    "find_learning_rate",
    "load",
    "nn",
    "register",
    "train",
]

_HOMES = {
    "Prediction": "seqlab.tasks.prediction",
    "Run": "seqlab.runs.run",
    "Score": "seqlab.metrics.score",
    "Trainer": "seqlab.trainer",
    "compare": "seqlab.api",
    "find_learning_rate": "seqlab.api",
    "load": "seqlab.api",
    "train": "seqlab.api",
}
_MODULES = {"errors": "seqlab.errors", "nn": "seqlab.nn", "register": "seqlab.register"}


def __getattr__(name: str) -> Any:
    """Import a name on first use, so that `import seqlab` does not wait for torch."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name == "__version__":
        from importlib.metadata import version

        return version("seqlab")
    raise AttributeError(f"module 'seqlab' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return __all__
