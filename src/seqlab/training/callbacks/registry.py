"""The registry of callbacks. Every training run calls all registered ones; recipes cannot name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.training.base import Callback

callbacks: Registry[type[Callback]] = Registry("callback", package="seqlab.training.callbacks")
