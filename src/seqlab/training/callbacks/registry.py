"""The registry of callbacks. Each registered one is told about every training; recipes cannot name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.training.base import Callback

callbacks: Registry[type[Callback]] = Registry("callback", package="seqlab.training.callbacks")
