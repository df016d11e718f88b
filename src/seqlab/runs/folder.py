"""The folder of a run: what stands in it, whether it is whole, and who is writing to it."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqlab.core.errors import RunError, nearest
from seqlab.core.files import sha256, write_whole
from seqlab.recipes.reading import check
from seqlab.recipes.recipe import Recipe

MANIFEST = "MANIFEST.json"
RECIPE, WEIGHTS, TOKENS, JOURNAL, RESULTS, REPORT = "recipe.toml", "model.safetensors", "tokens", "journal.jsonl", "results.json", "report.html"
LARGEST_RECIPE = 1_000_000


def new_folder(out: str, *, name: str) -> Path:
    """`out` when given, else `runs/NAME`, with a number behind it when that is taken. Nothing is created."""
    if out:
        folder = Path(out)
        if (folder / RECIPE).exists():
            raise RunError(
                "there is a run in this folder already.",
                where=str(folder),
                cure=f"Choose another --out, or go on with it: seqlab train --resume {folder}",
            )
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise RunError("this place is taken by something that is not a run.", where=str(folder), cure="Choose another --out.")
        return folder
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "run"
    folder = Path("runs") / plain
    number = 2
    while folder.exists():
        folder = Path("runs") / f"{plain}-{number}"
        number += 1
    return folder


def find_run(path: str | Path) -> Path:
    """The folder of a run, by path or by its name below runs/."""
    for folder in (Path(path), Path("runs") / path):
        if (folder / RECIPE).is_file():
            return folder
    there = sorted(entry.parent.name for entry in Path("runs").glob(f"*/{RECIPE}")) if Path("runs").is_dir() else []
    cure = nearest(Path(path).name, there) if there else "Train one first: seqlab train FILE"
    raise RunError("there is no run here (no recipe.toml).", where=str(path), cure=cure)


def seal(folder: Path) -> None:
    """Write down the checksums of everything that training does not change."""
    files = [folder / RECIPE, *sorted((folder / TOKENS).iterdir())]
    sums = {str(path.relative_to(folder)): sha256(path) for path in files}
    write_whole(folder / MANIFEST, json.dumps({"files": sums}, indent=1))


def verify(folder: Path) -> None:
    """Refuse a folder whose recipe or tokens are not those that were sealed."""
    path = folder / MANIFEST
    try:
        sums = json.loads(path.read_text(encoding="utf-8"))["files"].items()
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise RunError("the list of checksums cannot be read.", where=str(path), cure="Restore the file or train again.") from error
    inside = folder.resolve()
    for name, digest in sums:
        file = (folder / name).resolve()
        if not file.is_relative_to(inside):
            raise RunError(f"the list of checksums names a file outside the run ({name[:80]!r}).", where=str(path), cure="Do not use this folder.")
        if not file.is_file() or sha256(file) != digest:
            raise RunError(
                "the file is missing or was changed after training.", where=str(folder / name), cure="Restore it from a copy, or train again."
            )


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
    path = folder / ".lock"
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise RunError(
                f"process {owner} is training in this folder.", where=str(folder), cure="Wait for it, stop it, or choose another --out."
            ) from error
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield
