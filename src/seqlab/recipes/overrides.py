"""Override settings of a recipe with KEY=VALUE arguments and `--model NAME`."""

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
"""Settings that a short name always resets, even if it does not mention them: `lstm` after `bilstm` is
unidirectional.
"""


def override(
    raw: Raw, assignments: Iterable[str], *, model: str = "", values: Mapping[str, Any] | None = None
) -> Raw:
    """Apply `--model NAME`, `section.name=value` arguments and values by dotted name to a copy of a recipe.

    Options of a cell come last, because they belong to the cell that all arguments together choose.
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
    """Parse `section.name=value` arguments into values by dotted name.

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
    """Return the dotted names of the settings that `section.name=value` arguments set."""
    return [_parted(assignment)[0] for assignment in assignments]


def _is_option_of_cell(name: str) -> bool:
    return name.startswith("model.cell.") and name != "model.cell.kind"


def _plain(value: Any, _: Any) -> Any:
    """Convert a Python value to what TOML would give."""
    if isinstance(value, PurePath):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _copied(section: Any) -> Any:
    """Copy a section and the sections in it, which arguments may change."""
    if not isinstance(section, dict):
        return section
    return {name: dict(value) if isinstance(value, dict) else value for name, value in section.items()}


def short_model(name: str, *, before: Any = None) -> Raw:
    """Return the settings that a short name stands for.

    Sizes that are already set for the same kind of network are kept, unless the name is that of a published
    network, which has its own.
    """
    if name not in MODEL_ALIASES:
        raise unknown_model(name)
    chosen = MODEL_ALIASES[name]
    if (
        name not in MODEL_PRESETS
        and isinstance(before, dict)
        and before.get("kind", "recurrent") == chosen["kind"]
    ):
        return {key: value for key, value in before.items() if key not in ALWAYS_NEW} | chosen
    return dict(chosen)


def unknown_model(name: str, *, option: str = "--model") -> UsageError:
    return UsageError(
        f"there is no model called '{shortened(name)}'.",
        where=option,
        cure=f"{nearest(name, MODEL_ALIASES)} {PLUGIN_HINT}",
    )


def short_cell(name: str, *, before: Any = None) -> Raw:
    """Return the section that a cell's name stands for. Options that the new cell also has are kept."""
    known = KINDS["model.cell"][name].model_fields if name in KINDS["model.cell"] else {}
    options = before if isinstance(before, dict) else {}
    return {"kind": name} | {
        option: value for option, value in options.items() if option in known and option != "kind"
    }


def _parted(assignment: str) -> tuple[str, str]:
    """Split a `section.name=value` argument into name and text."""
    name, equals, text = assignment.partition("=")
    name = name.strip()
    section, dot, key = name.partition(".")
    if not equals or not section or (dot and not key) or name.endswith("."):
        raise UsageError(
            f"'{shortened(assignment)}' is not of the form KEY=VALUE.",
            cure="For example: training.steps=500. The file or folder comes first, and there is only one.",
        )
    return name, text


def _assign(changed: Raw, name: str, read: Callable[[Any], Any]) -> None:
    """Set one setting. `read` converts its value to the type of the setting."""
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
    """Return a section to write into; a short name is expanded to its settings first."""
    place = above.setdefault(name, {})
    if isinstance(place, str) and name == "model" and place in MODEL_ALIASES:
        place = above[name] = short_model(place)
    elif isinstance(place, str) and name == "cell":
        place = above[name] = short_cell(place)
    if not isinstance(place, dict):
        raise UsageError(
            f"'{name}' is a setting, not a section, so there is no '{shortened(key)}' in it.",
            cure=f"For example: {name}={place}",
        )
    return place


def _annotation_in(section: str, key: str) -> Any:
    """Return the type of a setting from any kind of the section that has it; None for an unknown one."""
    types = (_annotation(kind, key) for kind in settings_of(section))
    return next((annotation for annotation in types if annotation is not None), None)


def _annotation(settings: Any, name: str) -> Any:
    field = settings.model_fields.get(name)
    return None if field is None else field.annotation


def _value(text: str, annotation: Any) -> Any:
    """Convert an argument to the type of the setting: text is kept as it is (a column may be called 2024),
    and lists may be written as a,b.
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
    """Parse a TOML value; None if the text is not a single TOML value."""
    try:
        read = parse_toml(f"value = {text}")
    except ValueError:
        return None
    return read["value"] if len(read) == 1 else None
