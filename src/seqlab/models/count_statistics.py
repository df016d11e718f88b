"""Parts of a network that look at the whole training split once, before the first update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

Example = tuple[
    Shaped[Tensor, "batch time *features"], Bool[Tensor, "batch time"], Float[Tensor, "batch classes"] | None
]
"""Steps, which of them are real, and to which classes each sequence belongs (1) or not (0); None where the
answer is no class.
"""
Examples = Callable[[], Iterable[Example]]
"""One pass over the training split, each time it is called."""


class CountStatistics(ABC):
    """Something that learns by counting.

    What it counted stands in its buffers, so that a run that goes on does not count again.
    """

    @abstractmethod
    def fit_counts(self, examples: Examples) -> None: ...


def fit_count_statistics(model: nn.Module, examples: Examples) -> None:
    """Let every part of a network that counts see the training split."""
    for part in model.modules():
        if isinstance(part, CountStatistics):
            part.fit_counts(examples)
