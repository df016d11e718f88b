"""The folder of a run: where it is, what stands in it, and who is writing to it."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqlab.core.errors import EnvironmentProblem, RunError, nearest
from seqlab.recipes.reading import check
from seqlab.recipes.recipe import Recipe

RECIPE, WEIGHTS, TOKENS, JOURNAL, RESULTS, REPORT = "recipe.toml", "model.safetensors", "tokens", "journal.jsonl", "results.json", "report.html"
MANIFEST, CHECKPOINTS, LOCK = "MANIFEST.json", "checkpoints", ".lock"
LARGEST_RECIPE = 100_000


def new_folder(out: str, *, name: str) -> Path:
    """`out` when given, else `runs/NAME`, with a number behind it when that is taken. Nothing is created."""
    if out:
        folder = Path(out)
        refuse_a_run(folder)
        if folder.exists() and not _is_free(folder):
            raise RunError("this place is taken by something that is not a run.", where=str(folder), cure="Choose another --out.")
        return folder
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "run"
    folder = Path("runs") / plain
    number = 2
    while folder.exists():
        folder = Path("runs") / f"{plain}-{number}"
        number += 1
    return folder


def refuse_a_run(folder: Path) -> None:
    """Nobody's run is written over."""
    if (folder / RECIPE).exists():
        raise RunError(
            "there is a run in this folder already.",
            where=str(folder),
            cure=f"Choose another --out, or go on with it: seqlab train --resume {folder}",
        )


def _is_free(folder: Path) -> bool:
    """Whether a folder is empty, or holds only what a run leaves that was killed before its first step: no recipe yet."""
    if not folder.is_dir():
        return False
    names = {entry.name for entry in folder.iterdir() if entry.suffix != ".tmp"}
    return not names or (LOCK in names and names <= {LOCK, TOKENS, MANIFEST, JOURNAL, CHECKPOINTS})


def clear_false_start(folder: Path) -> None:
    """Remove what a run left that was killed before its first step."""
    for name in (TOKENS, CHECKPOINTS):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (MANIFEST, JOURNAL):
        (folder / name).unlink(missing_ok=True)


def find_run(path: str | Path) -> Path:
    """The folder of a run, by path or by its name below runs/."""
    for folder in (Path(path), Path("runs") / path):
        if (folder / RECIPE).is_file():
            return folder
    there = sorted(entry.parent.name for entry in Path("runs").glob(f"*/{RECIPE}")) if Path("runs").is_dir() else []
    cure = nearest(Path(path).name, there) if there else "Train one first: seqlab train FILE"
    raise RunError("there is no run here (no recipe.toml).", where=str(path), cure=cure)


def read_recipe(folder: Path) -> Recipe:
    """The recipe as it ran."""
    import tomllib

    path = folder / RECIPE
    if path.stat().st_size > LARGEST_RECIPE:
        raise RunError(f"a recipe of {path.stat().st_size:,} bytes is no recipe.", where=str(path), cure="Restore the file.")
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RunError("the recipe cannot be read.", where=str(path), cure="Restore the file.") from error
    return check(raw, where=str(path))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run folder for writing. The system lets go when the process ends, however it ends."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise EnvironmentProblem(
            f"the folder cannot be written to ({error.strerror}).", where=str(folder), cure="Change its rights, or choose another --out."
        ) from error
    with os.fdopen(handle, "r+", encoding="ascii", errors="replace") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = file.read(20).strip() or "unknown"
            raise RunError(
                f"process {owner} is training in this folder.",
                where=str(folder),
                cure=f"Wait for it, stop it (kill {owner}), or choose another --out.",
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        _sweep(folder)
        yield


def _sweep(folder: Path) -> None:
    """Remove what killed processes left half written. Only under the lock: nobody else is writing here."""
    for path in [*folder.glob(".*.tmp"), *(folder / TOKENS).glob(".*.tmp"), *(folder / CHECKPOINTS).glob(".last.*")]:
        path.unlink(missing_ok=True)
    for path in (folder / CHECKPOINTS).glob("tmp-*"):
        shutil.rmtree(path, ignore_errors=True)
