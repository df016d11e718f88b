"""Wrong commands, options and arguments in the form of all errors: where, what was found, what is allowed."""

from __future__ import annotations

from typing import Any

import typer

from seqlab.cli.meant_option import meant_by_option
from seqlab.core.errors import UsageError, closest, shortened

EXPECTED = {
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
}
LIMITS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def explain_usage(error: BaseException) -> UsageError | None:
    """What typer found wrong with the words of a command; None for anything else."""
    if not hasattr(error, "ctx") or not hasattr(error, "format_message"):
        return None
    command = error.ctx.command_path if error.ctx else "seqlab"
    if getattr(error, "possibilities", None) is not None or type(error).__name__ == "NoSuchOption":
        return _unknown_option(error, command)
    if isinstance(error, typer.BadParameter) and getattr(error, "param", None) is not None:
        return _wrong_value(error, command)
    message = str(error.format_message()).replace("argument(s)", "arguments").rstrip(".")
    return UsageError(f"{message[:1].lower()}{message[1:]}.", where=command, cure=_help(command))


def unknown_command(name: str, names: list[str]) -> UsageError:
    close = closest(name, names)
    hint = f"Did you mean '{close}'? " if close else ""
    return UsageError(
        f"there is no command called '{shortened(name)}'.", cure=f"{hint}Available: {', '.join(names)}."
    )


def _unknown_option(error: Any, command: str) -> UsageError:
    hint = f"Did you mean {meant}? " if (meant := meant_by_option(error)) else ""
    return UsageError(
        f"there is no option {shortened(error.option_name)}.", where=command, cure=f"{hint}{_help(command)}"
    )


def _wrong_value(error: Any, command: str) -> UsageError:
    """An option or argument that is missing or whose value cannot be used."""
    param = error.param
    name = next((name for name in param.opts if name.startswith("--")), param.metavar or param.name)
    about = f"{name}: {param.help}" if getattr(param, "help", None) else ""
    cure = " ".join(filter(None, (about, _help(command))))
    problems = error.__cause__.errors() if hasattr(error.__cause__, "errors") else []
    if not problems:
        is_missing = type(error).__name__ == "MissingParameter"
        what = f"{name} is missing." if is_missing else f"{name}: {error.message}"
        return UsageError(what, where=command, cure=cure)
    problem = problems[0]
    limits = [
        f"{words} {problem['ctx'][limit]:g}"
        for limit, words in LIMITS.items()
        if limit in problem.get("ctx", {})
    ]
    expected = f"a number of {limits[0]}" if limits else EXPECTED.get(problem["type"], "another value")
    return UsageError(
        f"expected {expected}, found {shortened(repr(problem['input']))}.", where=name, cure=cure
    )


def _help(command: str) -> str:
    return f"See: {command} --help"
