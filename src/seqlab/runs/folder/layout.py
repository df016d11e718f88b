"""The run folder: its location and the names of its files.

`manifest.py` checks that the files are unchanged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from seqlab.core.errors import RunError, nearest
from seqlab.recipes.read import check
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.toml_text import parse_toml

RECIPE, WEIGHTS, TOKENS, JOURNAL, RESULTS, REPORT = (
    "recipe.toml",
    "model.safetensors",
    "tokens",
    "journal.jsonl",
    "results.json",
    "report.html",
)
CHOICES, MANIFEST, CHECKPOINTS, CARD = "choices.json", "MANIFEST.json", "checkpoints", "card.md"
LOCK, LOCK_OWNER = ".lock", ".lock-owner"
LARGEST_RECIPE = 100_000


def new_folder(out: str, *, name: str) -> Path:
    """Return `out` if given, else `runs/NAME`, with a number appended if that exists. Nothing is created."""
    if out:
        folder = Path(out)
        reject_existing_run(folder)
        if folder.exists() and not _is_free(folder):
            raise RunError(
                "the path exists and is not a run.",
                where=str(folder),
                cure="Choose another --out.",
            )
        return folder
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "run"
    return next(folder for folder in _numbered(Path("runs") / plain) if not folder.exists())


def claim_folder(folder: Path) -> Path:
    """Create the folder, or the one with the next free number if another process was faster."""
    for place in _numbered(folder):
        try:
            place.mkdir(parents=True)
        except FileExistsError:
            continue
        return place
    raise AssertionError("there is always a next number")


def _numbered(folder: Path) -> Iterator[Path]:
    """Yield the folder itself, then NAME-2, NAME-3 and so on."""
    yield folder
    for number in count(2):
        yield folder.with_name(f"{folder.name}-{number}")


def reject_existing_run(folder: Path) -> None:
    """Never overwrite a run."""
    if (folder / RECIPE).exists():
        raise RunError(
            "this folder already contains a run.",
            where=str(folder),
            cure=f"Choose another --out, or resume the run: seqlab train --resume {folder}",
        )


def _is_free(folder: Path) -> bool:
    """Whether a folder is empty, or holds only the remains of a run that was killed before its first step,
    without a recipe.
    """
    if not folder.is_dir():
        return False
    names = {entry.name for entry in folder.iterdir() if entry.suffix != ".tmp"}
    if not names:
        return True
    left = {LOCK, LOCK_OWNER, TOKENS, MANIFEST, JOURNAL, CHECKPOINTS}
    return bool(names & {LOCK, LOCK_OWNER}) and names <= left


def find_run(path: str | Path) -> Path:
    """Find the folder of a run by its path or its name under runs/."""
    for folder in (Path(path), Path("runs") / path):
        if (folder / RECIPE).is_file():
            return folder
    run_names = (
        sorted(entry.parent.name for entry in Path("runs").glob(f"*/{RECIPE}"))
        if Path("runs").is_dir()
        else []
    )
    cure = nearest(Path(path).name, run_names) if run_names else "Train one first: seqlab train FILE"
    raise RunError("there is no run here (no recipe.toml).", where=str(path), cure=cure)


def read_recipe(folder: Path) -> Recipe:
    """Read the recipe of a run."""
    reject_links(folder)
    path = folder / RECIPE
    if path.stat().st_size > LARGEST_RECIPE:
        raise RunError(
            f"the file has {path.stat().st_size:,} bytes, too many for a recipe.",
            where=str(path),
            cure="Restore the file.",
        )
    try:
        raw = parse_toml(path.read_text(encoding="utf-8"))
    except ValueError as error:  # also a number with thousands of digits
        raise RunError("the recipe cannot be read.", where=str(path), cure="Restore the file.") from error
    return check(raw, where=str(path), is_trained=True)


def token_files(folder: Path) -> list[Path]:
    """Return the files of the tokenizer, or of two tokenizers in separate folders."""
    return sorted(path for path in (folder / TOKENS).rglob("*") if not path.is_dir() or path.is_symlink())


def reject_links(folder: Path) -> None:
    """Reject links that lead out of the folder, and pipes: an untrusted run must not read or write
    elsewhere.
    """
    inside = Path(os.path.realpath(folder))
    sides = [place for place in (folder / TOKENS).glob("*") if place.is_dir()]
    for place in (
        folder,
        folder / TOKENS,
        *sides,
        folder / CHECKPOINTS,
        *(folder / CHECKPOINTS).glob("step-*"),
    ):
        entries = (
            list(os.scandir(place)) if place.is_dir() and not (place.is_symlink() and place != folder) else []
        )
        for entry in entries:
            leaves = entry.is_symlink() and not Path(os.path.realpath(entry.path)).is_relative_to(inside)
            if leaves or not (entry.is_symlink() or entry.is_file() or entry.is_dir()):
                what = "points outside the run folder" if leaves else "is neither a file nor a folder"
                raise RunError(
                    f"this {what}.",
                    where=entry.path[:300],
                    cure="Do not use this folder, or replace the link with the file itself.",
                )
