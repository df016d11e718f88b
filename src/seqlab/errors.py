"""The public errors and warnings, importable by name.

    from seqlab.errors import DataError
    warnings.filterwarnings("ignore", category=seqlab.errors.SeqlabWarning)
    filterwarnings = ["ignore::seqlab.errors.SeqlabWarning"]     in the configuration of pytest

See `seqlab.core.errors` for what each of them means.
"""

from __future__ import annotations

from seqlab.core.errors import (
    ArgumentError,
    DataError,
    EnvironmentProblem,
    MissingExtra,
    RecipeError,
    RunError,
    SeqlabError,
    SeqlabWarning,
    TrainingError,
    UsageError,
)

__all__ = [
    "ArgumentError",
    "DataError",
    "EnvironmentProblem",
    "MissingExtra",
    "RecipeError",
    "RunError",
    "SeqlabError",
    "SeqlabWarning",
    "TrainingError",
    "UsageError",
]
