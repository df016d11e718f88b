"""What may follow on the command line, by the kind of argument.

A function whose answer depends on it gets what was typed so far; what does not begin like this is dropped later.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from seqlab.cli.completion.index import SettingEntry, load_index

Completion = tuple[str, str]
"""A word and a sentence about it, which may be empty."""
DATA_SETTINGS = ("data.train", "data.valid", "data.test")
RUN_SETTINGS = ("start.run", "distillation.run")


def tasks() -> list[Completion]:
    return list(load_index().names["tasks"].items())


def models() -> list[Completion]:
    return list(load_index().names["models"].items())


def model_list(incomplete: str) -> list[Completion]:
    """The last of several models with commas between them."""
    before = incomplete[: incomplete.rfind(",") + 1]
    return [(f"{before}{name}", sentence) for name, sentence in models()]


def studies() -> list[Completion]:
    return list(load_index().names["studies"].items())


def kinds() -> list[Completion]:
    from seqlab.cli.kinds import KINDS

    return [(kind, "") for kind in KINDS]


def topics() -> list[Completion]:
    return list(load_index().topics.items())


def runs() -> list[Completion]:
    """Runs by their names below runs/. Where none matches, the shell completes the path of a folder."""
    return [(path.parent.name, "") for path in sorted(Path("runs").glob("*/recipe.toml"))]


def data_or_recipe(incomplete: str) -> list[Completion]:
    """Built-in datasets, shipped recipes and files. Where only files match, the shell completes them itself."""
    names = load_index().names
    parts = {**names["datasets"], **names["recipes"]}
    if not any(name.startswith(incomplete) for name in parts):
        return []
    return [*parts.items(), *((path, "") for path in _paths(incomplete))]


def data_or_runs(incomplete: str) -> list[Completion]:
    """Runs; or, with --models, data and settings."""
    return [*runs(), *data_or_recipe(incomplete), *settings(incomplete)]


def settings(incomplete: str) -> list[Completion]:
    """Settings with their `=`, or the values of the setting that is typed already."""
    known = load_index().settings
    name, equals, typed = incomplete.partition("=")
    if equals:
        return _values(name, known[name], typed) if name in known else []
    matching = [setting for setting in known if setting.startswith(incomplete)]
    if len(matching) == 1:
        return _whole_setting(matching[0], known[matching[0]])
    if len({setting.partition(".")[0] for setting in matching}) > 1:
        return _sections(matching, known)
    return [(f"{setting}=", known[setting].help) for setting in matching]


def decoding_settings(incomplete: str) -> list[Completion]:
    """Settings of the section `decoding`, without its name."""
    section = "decoding."
    return [(word.removeprefix(section), sentence) for word, sentence in settings(section + incomplete)]


def _sections(names: list[str], known: dict[str, SettingEntry]) -> list[Completion]:
    """The first parts of dotted names: all settings at once would fill the screen."""
    sections = dict.fromkeys(f"{name.partition('.')[0]}." for name in names if "." in name)
    return [
        *((section, "") for section in sections),
        *((f"{name}=", known[name].help) for name in names if "." not in name),
    ]


def _whole_setting(name: str, entry: SettingEntry) -> list[Completion]:
    """One setting, with its values or its default.

    A second word keeps the shell from ending the first one with a space.
    """
    values = _values(name, entry, "") or [(f"{name}={shlex.quote(entry.default)}", "the default")]
    return [(f"{name}=", entry.help), *values]


def _values(name: str, entry: SettingEntry, typed: str) -> list[Completion]:
    if name in DATA_SETTINGS:
        found = _paths(typed)
    elif name in RUN_SETTINGS:
        found = [run for run, _ in runs()]
    else:
        before = typed[: typed.rfind(",") + 1] if entry.is_list else ""
        found = [f"{before}{value}" for value in entry.values]
    return [(f"{name}={value}", "") for value in found]


def _paths(typed: str) -> list[str]:
    """Files and folders that begin like this; what is in a folder if it is the only one.

    Names that a shell would need quotes for are left to the shell's own completion.
    """
    folder, slash, start = typed.rpartition("/")
    place = Path(f"{folder}{slash}" or ".")
    if not place.is_dir():
        return []
    names = sorted(f"{path.name}{'/' if path.is_dir() else ''}" for path in place.iterdir())
    visible = [name for name in names if name.startswith(start) and (start or not name.startswith("."))]
    matching = [f"{folder}{slash}{name}" for name in visible if shlex.quote(name) == name]
    if len(matching) == 1 and matching[0].endswith("/"):
        return [*matching, *_paths(matching[0])]
    return matching
