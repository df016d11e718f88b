"""Settings: frozen, closed, and with one sentence of help each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """The base of every section of a recipe. Unknown names are mistakes; values never change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class SettingHelp:
    """One setting as `seqlab explain` and the docs show it."""

    name: str
    kind: str
    default: Any
    sentence: str


def describe(settings: type[Settings], *, prefix: str = "") -> list[SettingHelp]:
    """Every setting of a section, in the order in which it is declared."""
    return [
        SettingHelp(f"{prefix}{name}", _kind(field.annotation), field.default, field.description or "")
        for name, field in settings.model_fields.items()
    ]


def _kind(annotation: Any) -> str:
    """A type in words: `int`, `float`, `lstm | gru | rnn`, `list of str`."""
    if get_origin(annotation) is Literal:
        return " | ".join(str(choice) for choice in get_args(annotation))
    if get_origin(annotation) in (list, tuple):
        return f"list of {_kind(get_args(annotation)[0])}"
    if get_args(annotation):
        return " | ".join(_kind(part) for part in get_args(annotation) if part is not type(None))
    return getattr(annotation, "__name__", str(annotation))
