"""Settings: frozen, without unknown names, and with one sentence of help each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

NAMES: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
SHORT_NAMES = {int: "whole number", float: "number", bool: "true | false", str: "text"}
PLURALS: dict[Any, str] = {int: "whole numbers", float: "numbers"}
BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


class Settings(BaseModel):
    """The base of every section of a recipe. Unknown names are mistakes; values never change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)

    def __str__(self) -> str:
        """Settings of one kind among several are displayed by the kind: `lstm`."""
        return str(getattr(self, "kind", "")) or super().__str__()


@dataclass(frozen=True)
class SettingHelp:
    """One setting as `seqlab explain` and the docs show it."""

    name: str
    kind: str
    default: Any
    sentence: str
    kinds: tuple[str, ...] = ()
    """The kinds that have the setting, where a section has several and not all do."""


def describe(settings: type[Settings], *, prefix: str = "") -> list[SettingHelp]:
    """Every setting of a section, in the order in which it is declared."""
    return [
        SettingHelp(
            f"{prefix}{name}", _kind(field.annotation), _plain(default_of(field)), field.description or ""
        )
        for name, field in settings.model_fields.items()
    ]


def default_of(field: FieldInfo) -> Any:
    return field.get_default(call_default_factory=True, validated_data={})


def sentence_of(settings: type[Settings]) -> str:
    """The first line of the docstring of a settings class."""
    return " ".join((settings.__doc__ or "").strip().partition("\n\n")[0].split())


def expected(field: FieldInfo) -> str:
    """What a setting takes, in the words of an error message: `a whole number of at least 1`, `last, max or
    mean`.
    """
    annotation = field.annotation
    if choices := choices_of(annotation):
        return _alternatives([repr(choice) if choice == "" else choice for choice in choices])
    limits = _limits(field.metadata)
    if entry := entry_of(annotation):
        return _list_of(entry, limits)
    if "max_length" in limits:
        return (
            "one character"
            if limits["max_length"] == 1
            else f"text of at most {limits['max_length']} characters"
        )
    return NAMES.get(annotation, "a valid value") + _bounds(limits)


def expected_entry(field: FieldInfo) -> str:
    """What each entry of a list takes: `a whole number of at least 1`."""
    entry = entry_of(field.annotation)
    if choices := choices_of(entry):
        return _alternatives(choices)
    if hasattr(entry, "choices"):  # a registry without built-in parts
        return "a name that a plug-in registers"
    return NAMES.get(_bare(entry), "a valid value") + _bounds(_entry_limits(entry))


def choices_of(annotation: Any) -> list[str]:
    """The choices of a setting: its own, or the kinds of the section that it represents."""
    if get_origin(_bare(annotation)) is Literal:
        return [str(choice) for choice in get_args(_bare(annotation))]
    choices = getattr(annotation, "choices", None)
    return list(choices()) if choices is not None else []


def entry_of(annotation: Any) -> Any:
    """The type of a list's entries, or None if a setting is not a list."""
    return get_args(annotation)[0] if get_origin(annotation) in (list, tuple) else None


def _list_of(entry: Any, limits: dict[str, Any]) -> str:
    at_most = f"at most {limits['max_length']} " if "max_length" in limits else ""
    if choices := choices_of(entry):
        return f"a list of {at_most}the names {', '.join(choices)}"
    if _bare(entry) is str:
        return f'a list of {at_most}names, such as ["a", "b"] or a,b'
    return (
        f"a list of {at_most}{PLURALS.get(_bare(entry), 'values')}{_bounds(_entry_limits(entry))}, such as"
        " [64, 32] or 64,32"
    )


def _bare(annotation: Any) -> Any:
    """A type without its limits; the name of a part is text."""
    bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return str if isinstance(bare, type) and issubclass(bare, str) else bare


def _entry_limits(entry: Any) -> dict[str, Any]:
    return _limits(
        [limit for part in getattr(entry, "__metadata__", ()) for limit in getattr(part, "metadata", [part])]
    )


def _limits(metadata: list[Any]) -> dict[str, Any]:
    return {
        name: getattr(limit, name)
        for limit in metadata
        for name in ("max_length", *BOUNDS)
        if hasattr(limit, name)
    }


def _bounds(limits: dict[str, Any]) -> str:
    bounds = " and ".join(f"{words} {limits[name]:g}" for name, words in BOUNDS.items() if name in limits)
    return f" of {bounds}" if bounds else ""


def _alternatives(choices: list[str]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def _kind(annotation: Any) -> str:
    """A short name of a type: `whole number`, `last | max | mean`, `list of text`."""
    if choices := choices_of(annotation):
        return " | ".join(choice for choice in choices if choice)
    if entry := entry_of(annotation):
        return f"list of {PLURALS.get(_bare(entry), _kind(entry))}"
    bare = _bare(annotation)
    return SHORT_NAMES.get(bare, getattr(bare, "__name__", str(bare)))


def _plain(default: Any) -> Any:
    return str(default) if isinstance(default, Settings) else default
