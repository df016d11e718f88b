"""Writes docs/reference/cli.md from the commands themselves: `python docs/cli_page.py`.

A test compares the two.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from typer.main import get_command

from seqlab.cli.main import app

PAGE = Path(__file__).parent / "reference" / "cli.md"
INTRODUCTION = (
    "Every command with its arguments and options, made from the code by `python docs/cli_page.py`."
    " `seqlab COMMAND --help` shows the same. `--debug` and `--plugin FILE` work with every command, before or"
    " after it."
)


def page() -> str:
    """The options of all commands, then a section for each command."""
    group: Any = get_command(app)
    lines = ["# Commands", "", INTRODUCTION, ""]
    lines += ["| command | |", "|---|---|"]
    lines += [
        f"| [`seqlab {name}`](#{name}) | {_summary(command)} |" for name, command in group.commands.items()
    ]
    lines += ["", "## Options of every command", "", *_options(group), ""]
    for name, command in group.commands.items():
        lines += [f"## {name}", "", _help(command), "", *_usage(name, command), ""]
        lines += [*_arguments(command), *_options(command), *_examples(command)]
    return "\n".join(lines)


def _summary(command: Any) -> str:
    return _help(command).partition("\n\n")[0].replace("\n", " ")


def _help(command: Any) -> str:
    return inspect.cleandoc(command.help or "").replace("\b\n", "")


def _usage(name: str, command: Any) -> list[str]:
    arguments = [_argument_name(parameter) for parameter in _parameters(command, "argument")]
    return ["```text", f"seqlab {name} [OPTIONS] {' '.join(arguments)}".rstrip(), "```"]


def _argument_name(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    name = name if parameter.required else f"[{name}]"
    return f"{name}..." if parameter.nargs == -1 else name


def _arguments(command: Any) -> list[str]:
    parameters = _parameters(command, "argument")
    if not parameters:
        return []
    rows = [
        f"| `{parameter.metavar or parameter.name.upper()}` | {_cell(parameter)} |"
        for parameter in parameters
    ]
    return ["| argument | |", "|---|---|", *rows, ""]


def _options(command: Any) -> list[str]:
    parameters = [parameter for parameter in _parameters(command, "option") if not parameter.hidden]
    if not parameters:
        return []
    rows = [f"| {_option_names(parameter)} | {_cell(parameter)} |" for parameter in parameters]
    return ["| option | |", "|---|---|", *rows, ""]


def _option_names(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} {_value(parameter)}"


def _value(parameter: Any) -> str:
    """What stands for the value: its own name, or its type."""
    return parameter.metavar or {int: "INT", float: "NUMBER"}.get(
        parameter.type_descriptor.annotation, "TEXT"
    )


def _cell(parameter: Any) -> str:
    return (parameter.help or "").replace("|", "\\|").replace("\n", " ")


def _examples(command: Any) -> list[str]:
    if not command.epilog:
        return []
    lines = inspect.cleandoc(command.epilog.replace("\b\n", "")).splitlines()
    return [
        "```text",
        *(line.removeprefix("  ") for line in lines if not line.startswith("Examples:")),
        "```",
        "",
    ]


def _parameters(command: Any, kind: str) -> list[Any]:
    return [parameter for parameter in command.params if parameter.param_type_name == kind]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
