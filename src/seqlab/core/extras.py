"""Optional dependencies: imported when used, with a one-line hint when they are missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from seqlab.core.errors import MissingExtra


def require(module: str, *, extra: str, purpose: str, package: str = "") -> ModuleType:
    """Import an optional module, or say in one line how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingExtra(package or module.partition(".")[0], extra=extra, purpose=purpose) from error
