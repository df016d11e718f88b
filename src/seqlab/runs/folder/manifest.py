"""MANIFEST.json: size and SHA-256 of every file of a run that changes an answer, and the fingerprints of its
data.

    {"format": 2, "sha256": DIGEST OF CONTENT,
     "content": {"run_id": ID, "data": {"train": FINGERPRINT, …}, "files": {"recipe.toml": {"size": 901, "sha256": …}, …}}}

The recipe and the tokens are listed when training starts. Weights, choices, results and the model card are added
when the run is scored, and taken off the list when it is resumed. A card that was edited afterwards (its license is
for the user to fill in) stops nothing. The ID is the digest of what is listed at the start:
weights and checkpoints carry it, so those of another run are noticed.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from seqlab.core.digests import FileRecord, is_intact, record_of, record_of_file, with_digest, without_digest
from seqlab.core.errors import RunError
from seqlab.core.files import megabytes, sha256, write_whole
from seqlab.runs.folder.layout import (
    CARD,
    CHOICES,
    MANIFEST,
    RECIPE,
    RESULTS,
    WEIGHTS,
    refuse_links,
    token_files,
)
from seqlab.tokens.untrusted_json import read_json_object

FORMAT = 2
LARGEST_MANIFEST = 1_000_000
LARGEST_FILE = 200_000_000
"""Bytes of a file of tokens."""
SCORED = (WEIGHTS, CHOICES, RESULTS, CARD)
"""Files that are listed once the run is scored."""
OPTIONAL = (CHOICES, CARD)
"""Choices are there where the task makes some, a card where the run was trained here."""
RESTORE = "Restore it from a copy, or train again."


@dataclass(frozen=True)
class Manifest:
    """What is known about the files of a run."""

    run_id: str
    data: Mapping[str, str]
    files: Mapping[str, FileRecord]

    @property
    def is_scored(self) -> bool:
        return WEIGHTS in self.files


def begin_manifest(folder: Path, *, recipe: str, data: Mapping[str, str]) -> Manifest:
    """List the recipe (which need not be there yet), the tokens and the data of a run."""
    files = {str(path.relative_to(folder)): record_of_file(path) for path in token_files(folder)}
    files[RECIPE] = record_of(recipe.encode("utf-8"))
    run_id = hashlib.sha256(json.dumps([files, dict(data)], sort_keys=True).encode()).hexdigest()
    return _write(folder, Manifest(run_id, data, files))


def reopen_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Take what scoring added off the list: the run is trained or scored again."""
    return _write(
        folder,
        replace(
            manifest, files={name: record for name, record in manifest.files.items() if name not in SCORED}
        ),
    )


def complete_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Add the files that scoring made. Until this is written, the run counts as unfinished."""
    made = {
        name: record_of_file(folder / name)
        for name in SCORED
        if name not in OPTIONAL or (folder / name).is_file()
    }
    return _write(folder, replace(manifest, files={**manifest.files, **made}))


def verify_start(folder: Path) -> Manifest:
    """Refuse a run whose recipe or tokens are not those it was trained with.

    The rest need not be there: a resume writes it.
    """
    refuse_links(folder)
    manifest = read_manifest(folder, with_earlier_format=True)
    _verify_parts(folder, manifest)
    return manifest


def verify(folder: Path) -> Manifest:
    """Refuse a run in which any file that a prediction depends on is missing or changed."""
    refuse_links(folder)
    manifest = read_manifest(folder)
    _verify_parts(folder, manifest)
    if manifest.is_scored:
        verify_scored(folder, WEIGHTS, manifest)
    if CHOICES in manifest.files:
        verify_scored(folder, CHOICES, manifest)
    elif (folder / CHOICES).exists():
        what = (
            "the file was added after training."
            if manifest.is_scored
            else "the run was interrupted before it was scored to the end."
        )
        raise RunError(what, where=str(folder / CHOICES), cure=score_again(folder))
    return manifest


def verify_scored(folder: Path, name: str, manifest: Manifest) -> None:
    """Refuse a file that scoring made and that is missing or changed."""
    path = folder / name
    if not path.is_file():
        raise RunError("the file is missing.", where=str(path), cure=score_again(folder))
    if not is_intact(path, manifest.files.get(name)):
        raise RunError("the file was changed after training.", where=str(path), cure=score_again(folder))


def read_manifest(folder: Path, *, with_earlier_format: bool = False) -> Manifest:
    """What is listed, not yet compared with the files; a RunError where the list is missing, changed or of
    another format.

    The earlier format lists recipe and tokens only: enough to resume, not to vouch for an answer.
    """
    path = folder / MANIFEST
    content = read_json_object(path, largest=LARGEST_MANIFEST)
    version = content.get("format")
    if version == 1 and with_earlier_format:
        return _parse({**content, "run_id": sha256(path)}, path)
    if version == 1:
        what = (
            "the run was written by an earlier version, without digests of its weights, choices and results."
        )
        raise RunError(what, where=str(path), cure=score_again(folder))
    if version != FORMAT:
        raise RunError(
            f"the run has format {str(version)[:20]}, this seqlab reads format {FORMAT}.",
            where=str(path),
            cure="Update seqlab.",
        )
    try:
        return _parse(without_digest(content), path)
    except (ValueError, RecursionError) as error:
        raise RunError("the manifest was changed after training.", where=str(path), cure=RESTORE) from error


def score_again(folder: Path) -> str:
    """The cure for a file that scoring makes."""
    return (
        f"Restore it from a copy, or write it again: seqlab train --resume {shlex.quote(str(folder))} (a"
        " model that was imported: import it again)"
    )


def _write(folder: Path, manifest: Manifest) -> Manifest:
    content = {"run_id": manifest.run_id, "data": dict(manifest.data), "files": dict(manifest.files)}
    write_whole(folder / MANIFEST, json.dumps({"format": FORMAT, **with_digest(content)}, indent=1))
    return manifest


def _parse(content: object, path: Path) -> Manifest:
    if isinstance(content, dict):
        run_id, data, files = (content.get(name) for name in ("run_id", "data", "files"))
        if isinstance(run_id, str) and isinstance(data, dict) and isinstance(files, dict):
            return Manifest(
                run_id, {str(name): str(fingerprint) for name, fingerprint in data.items()}, files
            )
    raise RunError("the list of files cannot be read.", where=str(path), cure=RESTORE)


def _verify_parts(folder: Path, manifest: Manifest) -> None:
    there = {str(entry.relative_to(folder)) for entry in token_files(folder)} | {RECIPE}
    for name in sorted((there | manifest.files.keys()) - set(SCORED)):
        _verify_part(folder, name, manifest.files.get(name), is_there=name in there)


def _verify_part(folder: Path, name: str, record: object, *, is_there: bool) -> None:
    """A file that is listed from the start."""
    path, where = folder / name, str(folder / name)[:300]
    if not is_there:  # also a name that leads out of the folder
        raise RunError(
            f"the file is missing, or no file of a run ({name[:80]!r}).",
            where=str(folder / MANIFEST),
            cure=RESTORE,
        )
    if not isinstance(record, dict):
        raise RunError("the file was added after training.", where=where, cure="Remove it.")
    if not path.is_file():
        raise RunError("the file is missing.", where=where, cure=RESTORE)
    if (size := path.stat().st_size) > LARGEST_FILE:
        raise RunError(
            f"the file is {megabytes(size)} large, more than is ever needed.", where=where, cure=RESTORE
        )
    if not is_intact(path, record):
        raise RunError("the file was changed after training.", where=where, cure=RESTORE)
