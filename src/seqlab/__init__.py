"""seqlab: train, compare, look inside and serve sequence models.

>>> import seqlab
>>> run = seqlab.train("reviews.csv", model="lstm", minutes=5)   # doctest: +SKIP
>>> run.predict(["not bad at all"])                              # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqlab.runs.api import compare, load, train

__all__ = ["__version__", "compare", "load", "train"]


def __getattr__(name: str) -> Any:
    """Names are imported when they are used: `import seqlab` must not wait for torch."""
    if name in ("compare", "load", "train"):
        from seqlab.runs import api as python

        return getattr(python, name)
    if name == "__version__":
        from importlib.metadata import version

        return version("seqlab")
    raise AttributeError(f"module 'seqlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
