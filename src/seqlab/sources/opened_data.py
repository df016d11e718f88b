"""The data of a task after opening: splits, settings and reasons."""

from __future__ import annotations

from dataclasses import dataclass, field

from seqlab.sources.base import Source
from seqlab.sources.settings import DataSettings


@dataclass(frozen=True)
class OpenedData:
    """The splits by name (train and, if present, valid and test), the settings with all columns, and
    the reasons for each decision.
    """

    settings: DataSettings
    parts: dict[str, Source]
    reasons: list[str]
    warnings: list[str] = field(default_factory=list)

    def shares(self) -> dict[str, float]:
        """What is to be held out from the training data; 0 for splits that are there."""
        return {
            name: 0.0 if name in self.parts else getattr(self.settings, f"{name}_share")
            for name in ("valid", "test")
        }


def split_seed(data: DataSettings, seed: int) -> int:
    """The seed of the split: `data.seed`, or the seed of the run."""
    return seed if data.seed < 0 else data.seed
