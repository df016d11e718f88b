"""Modules that compute count statistics of the whole training split once, before the first update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

Example = tuple[
    Shaped[Tensor, "batch time *features"], Bool[Tensor, "batch time"], Float[Tensor, "batch classes"] | None
]
"""Steps, which of them are real, and to which classes each sequence belongs (1) or not (0); None if the
targets are not classes.
"""
Examples = Callable[[], Iterable[Example]]
"""One pass over the training split, each time it is called."""


class CountStatistics(ABC):
    """A module that is fitted by counting.

    The counts are stored in buffers, so that a resumed run does not count again.
    """

    @abstractmethod
    def fit_counts(self, examples: Examples) -> None: ...


def fit_count_statistics(model: nn.Module, examples: Examples) -> None:
    """Fit every counting module of a network on the training split."""
    for part in model.modules():
        if isinstance(part, CountStatistics):
            part.fit_counts(examples)
