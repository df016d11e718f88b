"""What an unknown option was meant to be: a setting, which is written without dashes, or another option."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any

from seqlab.core.errors import closest


def meant_by_option(error: Any) -> str:
    """Return the setting of this name if the command takes settings, else the option or setting with the closest
    name; empty if there is none.
    """
    from seqlab.recipes.problems import one_of
    from seqlab.recipes.sections import plain_names

    params, name = error.ctx.command.params, _plain(error.option_name)
    options = [option for param in params for option in param.opts if option.startswith("--")]
    write = _how_to_write(params, options)
    value = _value_of(error.option_name, getattr(error, "words", ()))
    if settings := write(name, value):
        return one_of(settings)
    settings_by_option = {f"--{setting.replace('_', '-')}": setting for setting in plain_names()}
    writable = [option for option, setting in settings_by_option.items() if write(setting, value)]
    close = closest(error.option_name, [*writable, *options])
    if close in options:
        return f"'{close}'"
    return one_of(write(_plain(close), value)) if close else ""


def _plain(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _how_to_write(params: Iterable[Any], options: Sequence[str]) -> Callable[[str, str], list[str]]:
    """How a command takes the settings of a name: as KEY=VALUE, as `--decoding NAME=VALUE`, or not at all."""
    from seqlab.recipes.sections import settings_called

    takes_settings = any("KEY=VALUE" in f"{param.metavar} {param.help}" for param in params)
    prefix, before = ("", "") if takes_settings else ("decoding.", "--decoding ")
    if not takes_settings and "--decoding" not in options:
        return lambda *_: []
    return lambda name, value: [
        f"{before}{setting.removeprefix(prefix)}={value}"
        for setting in settings_called(name)
        if setting.startswith(prefix)
    ]


def _value_of(option: str, words: Sequence[str]) -> str:
    """The value behind an option, `VALUE` if there is none.

    >>> _value_of("--epochs", ["a.csv", "--epochs", "3"]), _value_of("--lr", ["--lr=0.1"])
    ('3', '0.1')
    >>> _value_of("--fp16", ["a.csv", "--fp16", "--quiet"]), _value_of("--fp16", [])
    ('VALUE', 'VALUE')
    """
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        name, equals, value = word.partition("=")
        if name == option:
            return value if equals else after if after and not after.startswith("--") else "VALUE"
    return "VALUE"
