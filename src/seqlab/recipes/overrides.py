"""KEY=VALUE words and `--model NAME` on top of a recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any, Literal, get_origin

from seqlab.core.errors import UsageError, nearest, shortened
from seqlab.core.plugins import PLUGIN_HINT
from seqlab.core.settings import choices_of, entry_of
from seqlab.models.aliases import MODEL_ALIASES, SHORT_NAMES
from seqlab.models.presets import MODEL_PRESETS
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.sections import KINDS, is_section, settings_of
from seqlab.recipes.toml_text import parse_toml

Raw = dict[str, Any]
ALWAYS_NEW = {key for name, settings in SHORT_NAMES.items() if name not in MODEL_PRESETS for key in settings}
"""What a short name decides, also where it does not mention it: `lstm` after `bilstm` reads in one
direction.
"""


def override(
    raw: Raw, assignments: Iterable[str], *, model: str = "", values: Mapping[str, Any] | None = None
) -> Raw:
    """Apply `--model NAME`, `section.name=value` words and values by dotted names on top of a recipe, which
    stays as it was.

    Options of a cell come last: they belong to the cell that all words together choose.
    """
    changed = {name: _copied(value) for name, value in raw.items()}
    if model:
        changed["model"] = short_model(model, before=changed.get("model"))
    words = [(name, partial(_value, text)) for name, text in map(_parted, assignments)]
    plain = [(name, partial(_plain, value)) for name, value in (values or {}).items()]
    for name, read in sorted([*words, *plain], key=lambda setting: _is_option_of_cell(setting[0])):
        _assign(changed, name, read)
    return changed


def read_assignments(assignments: Iterable[str], *, where: str, example: str) -> dict[str, Any]:
    """`section.name=value` words as values by their dotted names.

    >>> read_assignments(["decoding.beam=5", "decoding.prefix=2024"], where="", example="")
    {'decoding.beam': 5, 'decoding.prefix': '2024'}
    """
    values = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise UsageError(
                f"'{shortened(name.partition('.')[2])}' is not of the form NAME=VALUE.",
                where=where,
                cure=f"For example: {example}",
            )
        section, _, key = name.strip().partition(".")
        values[name.strip()] = _value(text, _annotation_in(section, key))
    return values


def assigned_names(assignments: Iterable[str]) -> list[str]:
    """The dotted names of the settings that `section.name=value` words set."""
    return [_parted(assignment)[0] for assignment in assignments]


def _is_option_of_cell(name: str) -> bool:
    return name.startswith("model.cell.") and name != "model.cell.kind"


def _plain(value: Any, _: Any) -> Any:
    """A value of Python as TOML would have it."""
    if isinstance(value, PurePath):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _copied(section: Any) -> Any:
    """Sections and the sections in them: all that words may write into."""
    if not isinstance(section, dict):
        return section
    return {name: dict(value) if isinstance(value, dict) else value for name, value in section.items()}


def short_model(name: str, *, before: Any = None) -> Raw:
    """The settings that a short name stands for.

    Sizes already chosen for the same kind of network stay, unless the name is that of a published network,
    which has its own.
    """
    if name not in MODEL_ALIASES:
        raise UsageError(
            f"there is no model called '{shortened(name)}'.",
            where="--model",
            cure=f"{nearest(name, MODEL_ALIASES)} {PLUGIN_HINT}",
        )
    chosen = MODEL_ALIASES[name]
    if (
        name not in MODEL_PRESETS
        and isinstance(before, dict)
        and before.get("kind", "recurrent") == chosen["kind"]
    ):
        return {key: value for key, value in before.items() if key not in ALWAYS_NEW} | chosen
    return dict(chosen)


def short_cell(name: str, *, before: Any = None) -> Raw:
    """The section that a cell's name stands for. Options that the new cell has as well stay."""
    known = KINDS["model.cell"][name].model_fields if name in KINDS["model.cell"] else {}
    options = before if isinstance(before, dict) else {}
    return {"kind": name} | {
        option: value for option, value in options.items() if option in known and option != "kind"
    }


def _parted(assignment: str) -> tuple[str, str]:
    """The name and the text of a `section.name=value` word."""
    name, equals, text = assignment.partition("=")
    name = name.strip()
    section, dot, key = name.partition(".")
    if not equals or not section or (dot and not key) or name.endswith("."):
        raise UsageError(
            f"'{shortened(assignment)}' is not of the form KEY=VALUE.",
            cure="For example: training.steps=500. A file or folder comes first, and one is enough.",
        )
    return name, text


def _assign(changed: Raw, name: str, read: Callable[[Any], Any]) -> None:
    """Set one setting. `read` gives its value for the type that the setting has."""
    section, dot, key = name.partition(".")
    if not dot:
        value = read(_annotation(Recipe, section))
        changed[section] = (
            short_model(value)
            if section == "model" and isinstance(value, str) and value in MODEL_ALIASES
            else value
        )
        return
    place = _opened(changed, section, key)
    within, dot, option = key.partition(".")
    if dot and is_section(f"{section}.{within}"):
        if option == "kind":
            place[within] = short_cell(str(read(str)), before=place.get(within))
            return
        section, key, place = f"{section}.{within}", option, _opened(place, within, option)
    place[key] = read(_annotation_in(section, key))


def _opened(above: Raw, name: str, key: str) -> Raw:
    """A section to write into; one that stands there by its short name is spelled out."""
    place = above.setdefault(name, {})
    if isinstance(place, str) and name == "model" and place in MODEL_ALIASES:
        place = above[name] = short_model(place)
    elif isinstance(place, str) and name == "cell":
        place = above[name] = short_cell(place)
    if not isinstance(place, dict):
        raise UsageError(
            f"'{name}' is one setting and has no part '{shortened(key)}'.",
            cure=f"For example: {name}={place}",
        )
    return place


def _annotation_in(section: str, key: str) -> Any:
    """The type of a setting, whichever kind of the section has it; None for one that is not known."""
    types = (_annotation(kind, key) for kind in settings_of(section))
    return next((annotation for annotation in types if annotation is not None), None)


def _annotation(settings: Any, name: str) -> Any:
    field = settings.model_fields.get(name)
    return None if field is None else field.annotation


def _value(text: str, annotation: Any) -> Any:
    """A word as the setting wants it: text stays as it stands (a column may be called 2024), lists may be
    written a,b.
    """
    if _is_text(annotation) or get_origin(annotation) is Literal:
        quoted = _toml(text)
        return quoted if isinstance(quoted, str) else {r"\t": "\t"}.get(text, text)
    entry = entry_of(annotation)
    if _is_text(entry) or choices_of(entry):
        listed = _toml(text)
        return listed if isinstance(listed, list) else [listed] if isinstance(listed, str) else _names(text)
    if entry is not None:
        return _numbers(text)
    read = _toml(text)
    return text if read is None else read


def _is_text(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, str)


def _names(text: str) -> list[str]:
    """
    >>> _names("open, close,"), _names("")
    (['open', 'close'], [])
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> Any:
    """
    >>> _numbers("64,32"), _numbers("[64, 32]"), _numbers("64"), _numbers(""), _numbers("wide")
    ([64, 32], [64, 32], [64], [], 'wide')
    """
    read = _toml(text if text.strip().startswith("[") else f"[{text}]")
    return text if read is None else read


def _toml(text: str) -> Any:
    """What TOML reads in a value, or None when it is not one value of TOML."""
    try:
        read = parse_toml(f"value = {text}")
    except ValueError:
        return None
    return read["value"] if len(read) == 1 else None
