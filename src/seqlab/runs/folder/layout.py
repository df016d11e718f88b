"""The folder of a run: where it is, what stands in it, and whether it is what was trained here."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from seqlab.core.errors import RunError, nearest
from seqlab.core.files import megabytes, sha256, write_whole
from seqlab.recipes.read import check
from seqlab.recipes.recipe import Recipe
from seqlab.tokens.untrusted_json import read_json_object
from seqlab.training.checkpoints.weights_header import read_header

RECIPE, WEIGHTS, TOKENS, JOURNAL, RESULTS, REPORT = "recipe.toml", "model.safetensors", "tokens", "journal.jsonl", "results.json", "report.html"
MANIFEST, CHECKPOINTS, LOCK = "MANIFEST.json", "checkpoints", ".lock"
LARGEST_RECIPE = 100_000
LARGEST_MANIFEST = 1_000_000
LARGEST_FILE = 200_000_000
FORMAT = 1
RESTORE = "Restore it from a copy, or train again."


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

    refuse_links(folder)
    path = folder / RECIPE
    if path.stat().st_size > LARGEST_RECIPE:
        raise RunError(f"a recipe of {path.stat().st_size:,} bytes is no recipe.", where=str(path), cure="Restore the file.")
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RunError("the recipe cannot be read.", where=str(path), cure="Restore the file.") from error
    return check(raw, where=str(path))


@dataclass(frozen=True)
class Seal:
    """The digest that names a run in its weights and checkpoints, and the fingerprints of the data it is trained on."""

    digest: str
    data: dict[str, str]


def seal(folder: Path, *, recipe: str, data: dict[str, str]) -> Seal:
    """Write down what belongs to a run: its recipe (which need not be there yet), its tokens and its data."""
    files = {str(path.relative_to(folder)): {"size": path.stat().st_size, "sha256": sha256(path)} for path in _token_files(folder)}
    text = recipe.encode("utf-8")
    files[RECIPE] = {"size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    write_whole(folder / MANIFEST, json.dumps({"format": FORMAT, "files": files, "data": data}, indent=1))
    return Seal(sha256(folder / MANIFEST), data)


def verify(folder: Path) -> Seal:
    """Refuse a folder that is not what was trained here: its recipe, its tokens, and whose weights stand in it."""
    sealed = verify_sealed(folder)
    path = folder / WEIGHTS
    if path.is_file() and f" run:{sealed.digest}".encode() not in read_header(path).raw:  # weights of another run may fit and still be wrong
        raise RunError("the weights belong to another run.", where=str(path), cure="Restore the file that was trained here, or train again.")
    return sealed


def verify_sealed(folder: Path) -> Seal:
    """The same without the weights, which a resume writes anew: a folder that reaches outside itself is refused here too."""
    refuse_links(folder)
    path = folder / MANIFEST
    manifest = read_json_object(path, largest=LARGEST_MANIFEST)
    if (version := manifest.get("format")) != FORMAT:
        raise RunError(f"the run has format {str(version)[:20]}, this seqlab reads format {FORMAT}.", where=str(path), cure="Update seqlab.")
    files, data = manifest.get("files"), manifest.get("data")
    if not isinstance(files, dict) or not isinstance(data, dict):
        raise RunError("the list of checksums cannot be read.", where=str(path), cure=RESTORE)
    there = {str(entry.relative_to(folder)) for entry in _token_files(folder)} | {RECIPE}
    for name in sorted(there | files.keys()):
        _verify_file(folder, name, files.get(name), is_there=name in there)
    return Seal(sha256(path), {str(name): str(fingerprint) for name, fingerprint in data.items()})


def _token_files(folder: Path) -> list[Path]:
    """Those of one tokenizer, or of two in folders of their own."""
    return sorted(path for path in (folder / TOKENS).rglob("*") if not path.is_dir() or path.is_symlink())


def _verify_file(folder: Path, name: str, sealed: object, *, is_there: bool) -> None:
    shown = str(folder / name)[:300]
    if not is_there:  # also a name that leads out of the folder
        raise RunError(f"the file is missing, or no file of a run ({name[:80]!r}).", where=str(folder / MANIFEST), cure=RESTORE)
    if not isinstance(sealed, dict):
        raise RunError("the file was added after training.", where=shown, cure="Remove it.")
    path = folder / name
    size = path.stat().st_size if path.is_file() else -1
    if size > LARGEST_FILE:
        raise RunError(f"the file is {megabytes(size)} large, more than is ever needed.", where=shown, cure=RESTORE)
    if size != sealed.get("size") or sha256(path) != sealed.get("sha256"):
        raise RunError("the file is missing or was changed after training.", where=shown, cure=RESTORE)


def refuse_links(folder: Path) -> None:
    """A folder from somebody else must not make us read or write outside of it, or wait at a pipe."""
    inside = Path(os.path.realpath(folder))
    sides = [place for place in (folder / TOKENS).glob("*") if place.is_dir()]
    for place in (folder, folder / TOKENS, *sides, folder / CHECKPOINTS, *(folder / CHECKPOINTS).glob("step-*")):
        entries = list(os.scandir(place)) if place.is_dir() and not (place.is_symlink() and place != folder) else []
        for entry in entries:
            leaves = entry.is_symlink() and not Path(os.path.realpath(entry.path)).is_relative_to(inside)
            if leaves or not (entry.is_symlink() or entry.is_file() or entry.is_dir()):
                what = "leads out of the folder of the run" if leaves else "is neither a file nor a folder"
                raise RunError(f"this {what}.", where=entry.path[:300], cure="Do not use this folder, or replace the link by the file itself.")
