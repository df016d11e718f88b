"""Which argument of which command is completed by what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_type_hints

import typer

from seqlab.cli.completion import completers
from seqlab.cli.completion.completers import Completion

Completer = Callable[..., list[Completion]]
COMPLETERS: Mapping[str, Mapping[str, Completer]] = {
    "train": {
        "what": completers.data_or_recipe,
        "settings": completers.settings,
        "task": completers.tasks,
        "model": completers.models,
        "start_from": completers.runs,
        "resume": completers.runs,
    },
    "data": {"what": completers.data_or_recipe, "settings": completers.settings},
    "lr": {
        "what": completers.data_or_recipe,
        "settings": completers.settings,
        "task": completers.tasks,
        "model": completers.models,
        "start_from": completers.runs,
    },
    "evaluate": {
        "run": completers.runs,
        "decoding": completers.decoding_settings,
        "others": completers.runs,
    },
    "compare": {
        "what": completers.data_or_runs,
        "models": completers.model_list,
        "against": completers.runs,
        "task": completers.tasks,
    },
    "gain": {
        "what": completers.data_or_recipe,
        "settings": completers.settings,
        "start_from": completers.runs,
        "task": completers.tasks,
    },
    "predict": {
        "run": completers.runs,
        "decoding": completers.decoding_settings,
        "others": completers.runs,
    },
    "reproduce": {"run": completers.runs},
    "generate": {"run": completers.runs},
    "export": {"run": completers.runs},
    "words": {"what": completers.runs},
    "study": {"name": completers.studies},
    "list": {"kind": completers.kinds},
    "explain": {"topic": completers.topics},
}
"""Completers by command and parameter, in one place rather than at each parameter, so that they read as a table."""


def attach_completers(app: typer.Typer) -> None:
    """Give the parameters of every command their completers, before typer builds the commands."""
    for command in app.registered_commands:
        assert command.callback is not None
        hints = get_type_hints(command.callback, include_extras=True)
        for parameter, completer in COMPLETERS.get(command.name or "", {}).items():
            for info in hints[parameter].__metadata__:
                info.autocompletion = completer
        command.callback.__annotations__ = hints
