"""The registry of tasks. Recipes only check the names of tasks; the package `tasks` implements them."""

from __future__ import annotations

from typing import Any

from seqlab.core.registry import Registry

registered_tasks: Registry[type[Any]] = Registry("task", package="seqlab.tasks")
