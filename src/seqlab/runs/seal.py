"""The seal of a run: checksums of everything that training does not change, so that a folder is what it says or is refused."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from seqlab.core.errors import RunError
from seqlab.core.files import megabytes, sha256, write_whole
from seqlab.runs.folder import CHECKPOINTS, MANIFEST, RECIPE, TOKENS
from seqlab.tokens.untrusted_json import read_json_object

FORMAT = 1
LARGEST_MANIFEST = 1_000_000
LARGEST_FILE = 200_000_000
RESTORE = "Restore it from a copy, or train again."


@dataclass(frozen=True)
class Seal:
    """The digest that names a run in its weights and checkpoints, and the fingerprints of the data it is trained on."""

    digest: str
    data: dict[str, str]


def seal(folder: Path, *, recipe: str, data: dict[str, str]) -> Seal:
    """Write down what belongs to a run: its recipe (which need not be there yet), its tokens and its data."""
    files = {str(path.relative_to(folder)): {"size": path.stat().st_size, "sha256": sha256(path)} for path in sorted((folder / TOKENS).iterdir())}
    text = recipe.encode("utf-8")
    files[RECIPE] = {"size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    write_whole(folder / MANIFEST, json.dumps({"format": FORMAT, "files": files, "data": data}, indent=1))
    return Seal(sha256(folder / MANIFEST), data)


def verify(folder: Path) -> Seal:
    """Refuse a folder whose recipe or tokens are not those that were sealed, or that reaches outside itself."""
    refuse_links(folder)
    path = folder / MANIFEST
    manifest = read_json_object(path, largest=LARGEST_MANIFEST)
    if (version := manifest.get("format")) != FORMAT:
        raise RunError(f"the run has format {str(version)[:20]}, this seqlab reads format {FORMAT}.", where=str(path), cure="Update seqlab.")
    files, data = manifest.get("files"), manifest.get("data")
    if not isinstance(files, dict) or not isinstance(data, dict):
        raise RunError("the list of checksums cannot be read.", where=str(path), cure=RESTORE)
    there = {str(entry.relative_to(folder)) for entry in (folder / TOKENS).glob("*")} | {RECIPE}
    for name in sorted(there | files.keys()):
        _verify_file(folder, name, files.get(name), is_there=name in there)
    return Seal(sha256(path), {str(name): str(fingerprint) for name, fingerprint in data.items()})


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
    inside = folder.resolve()
    for place in (folder, folder / TOKENS, folder / CHECKPOINTS, *(folder / CHECKPOINTS).glob("step-*")):
        entries = list(os.scandir(place)) if place.is_dir() and not (place.is_symlink() and place != folder) else []
        for entry in entries:
            leaves = entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(inside)
            if leaves or not (entry.is_symlink() or entry.is_file() or entry.is_dir()):
                what = "leads out of the folder of the run" if leaves else "is neither a file nor a folder"
                raise RunError(f"this {what}.", where=entry.path[:300], cure="Do not use this folder, or replace the link by the file itself.")
