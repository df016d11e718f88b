"""Settings: frozen, closed, and with one sentence of help each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

NAMES: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
SHORT_NAMES = {int: "whole number", float: "number", bool: "true | false", str: "text"}
BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


class Settings(BaseModel):
    """The base of every section of a recipe. Unknown names are mistakes; values never change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)


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


def expected(field: FieldInfo) -> str:
    """What a setting takes, in the words of an error message: `a whole number of at least 1`, `lstm, gru or rnn`."""
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return _alternatives([repr(choice) if choice == "" else str(choice) for choice in get_args(annotation)])
    if get_origin(annotation) is tuple:
        return 'a list of names, such as ["a", "b"] or a,b'
    limits = {name: getattr(limit, name) for limit in field.metadata for name in ("max_length", *BOUNDS) if hasattr(limit, name)}
    if "max_length" in limits:
        return "one character" if limits["max_length"] == 1 else f"text of at most {limits['max_length']} characters"
    bounds = " and ".join(f"{words} {limits[name]:g}" for name, words in BOUNDS.items() if name in limits)
    return NAMES.get(annotation, "something else") + (f" of {bounds}" if bounds else "")


def _alternatives(choices: list[str]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def _kind(annotation: Any) -> str:
    """A type in a word or two: `whole number`, `lstm | gru | rnn`, `list of text`."""
    if get_origin(annotation) is Literal:
        return " | ".join(str(choice) for choice in get_args(annotation) if choice != "")
    if get_origin(annotation) in (list, tuple):
        return f"list of {_kind(get_args(annotation)[0])}"
    return SHORT_NAMES.get(annotation, getattr(annotation, "__name__", str(annotation)))
