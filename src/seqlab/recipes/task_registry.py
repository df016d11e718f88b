"""The registry of tasks. Recipes check the name of a task; what it is, the package `tasks` says."""

from __future__ import annotations

from typing import Any

from seqlab.core.registry import Registry

registered_tasks: Registry[type[Any]] = Registry("task", package="seqlab.tasks")
