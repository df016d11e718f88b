"""The help of a command: arguments by name alone, `RUN` where typer shows `{RUN}` and `RUN <str>`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

SECTIONS = {"argument": "Arguments", "option": "Options"}


class Command(TyperCommand):
    """A command whose usage line and tables of arguments are free of Python types."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]  # so that its message can name the command
            error.words = words  # type: ignore[attr-defined]  # and suggest the value of an unknown option
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [param for param in self.get_params(ctx) if param.param_type_name == "argument"]
        return ["[OPTIONS]", *(_usage_name(argument) for argument in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for kind, title in SECTIONS.items():
            params = [param for param in self.get_params(ctx) if param.param_type_name == kind]
            rows = [row for param in params if (row := _help_row(param, ctx)) is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _usage_name(argument: Any) -> str:
    name = argument.metavar if argument.required else f"[{argument.metavar}]"
    return f"{name}..." if argument.nargs == -1 else name


def _help_row(param: Any, ctx: Any) -> tuple[str, str] | None:
    record = param.get_help_record(ctx)
    if record is None or param.param_type_name == "option":
        return record
    return param.metavar, record[1].removesuffix("  [required]")
