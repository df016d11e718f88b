"""Decorators that register your own parts under a name, for recipes, commands and Python.

    from seqlab import register
    from seqlab.cells.base import Cell

    @register.cell("my_cell")
    class MyCell(Cell): ...

They work in your program, in a file passed as `--plugin FILE`, and in an installed package with an entry
point in the group `seqlab`. Recipes and run folders never load code. See docs/guides/extend.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from seqlab.core.registry import Registry

PartClass = TypeVar("PartClass", bound=type)
Decorator = Callable[[PartClass], PartClass]


def cell(name: str) -> Decorator[PartClass]:
    """Register a recurrent cell (`seqlab.cells.base.Cell`): `--model NAME`, `model.cell=NAME`."""
    from seqlab.cells.base import cells

    return _decorator(cells, name)


def attention_score(name: str) -> Decorator[PartClass]:
    """Register an attention score (`seqlab.attention.base.ScoreFunction`): `decoder.attention=NAME`."""
    from seqlab.attention.registry import score_functions

    return _decorator(score_functions, name)


def positional_encoding(name: str) -> Decorator[PartClass]:
    """Register a positional encoding (`seqlab.positions.base.PositionalEncoding`): `model.positions=NAME`."""
    from seqlab.positions.registry import positional_encodings

    return _decorator(positional_encodings, name)


def tokenizer(name: str) -> Decorator[PartClass]:
    """Register a tokenizer (`seqlab.tokens.base.Tokenizer`): `tokens.kind=NAME`."""
    from seqlab.tokens.registry import tokenizers

    return _decorator(tokenizers, name)


def optimizer(name: str) -> Decorator[PartClass]:
    """Register an optimizer (`seqlab.training.optimizers.base.Optimizer`): `training.optimizer=NAME`."""
    from seqlab.training.optimizers.registry import optimizers

    return _decorator(optimizers, name)


def metric(name: str) -> Decorator[PartClass]:
    """Register a metric (`seqlab.metrics.metric.Metric`): `evaluation.metrics=NAME`."""
    from seqlab.metrics.registry import metrics

    return _decorator(metrics, name)


def source_format(name: str) -> Decorator[PartClass]:
    """Register a file format (a `seqlab.sources.base.Source` with `suffixes`), chosen by file suffix or
    `data.format=NAME`.
    """
    from seqlab.sources.formats.registry import source_formats

    return _decorator(source_formats, name)


def callback(name: str) -> Decorator[PartClass]:
    """Register a callback (`seqlab.training.base.Callback`), which every training run calls."""
    from seqlab.training.callbacks.registry import callbacks

    return _decorator(callbacks, name)


def task(name: str) -> Decorator[PartClass]:
    """Register a task (`seqlab.tasks.spec.TaskSpec`): `--task NAME`."""
    from seqlab.recipes.task_registry import registered_tasks

    return _decorator(registered_tasks, name)


def _decorator(registry: Registry[Any], name: str) -> Decorator[PartClass]:
    return registry.register(name)
