"""`seqlab train --resume` without a run: the most recently interrupted run in runs/."""

from __future__ import annotations

from pathlib import Path

from seqlab.core.errors import UsageError

OPTION = "--resume"


def with_run_to_resume(arguments: list[str]) -> list[str]:
    """The arguments, with the run that a bare `--resume` stands for.

    >>> with_run_to_resume(["train", "--resume", "runs/a", "-q"])
    ['train', '--resume', 'runs/a', '-q']
    """
    place = arguments.index(OPTION) if arguments[:1] == ["train"] and OPTION in arguments else -1
    if place < 0 or (len(arguments) > place + 1 and not arguments[place + 1].startswith("-")):
        return arguments
    return [*arguments[: place + 1], newest_unfinished(), *arguments[place + 1 :]]


def newest_unfinished() -> str:
    """The folder of the most recently modified run without results."""
    folders = [recipe.parent for recipe in Path("runs").glob("*/recipe.toml")]
    open_runs = [folder for folder in folders if not (folder / "results.json").is_file()]
    if not open_runs:
        raise UsageError(
            "there is no unfinished run in runs/.",
            where=OPTION,
            cure="Pass one: seqlab train --resume RUN (see: seqlab list runs).",
        )
    return str(max(open_runs, key=lambda folder: (folder / "recipe.toml").stat().st_mtime))
