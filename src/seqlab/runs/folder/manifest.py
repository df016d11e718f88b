"""MANIFEST.json: size and SHA-256 of every file of a run that affects predictions, and the fingerprints of its
data.

    {"format": 2, "sha256": DIGEST OF CONTENT,
     "content": {"run_id": ID, "data": {"train": FINGERPRINT, …}, "files": {"recipe.toml": {"size": 901, "sha256": …}, …}}}

The recipe and the tokens are listed when training starts. Weights, choices, results and the model card are
added when the run is scored, and removed when it is resumed; the journal, which reports plot, too. The card may
be edited afterwards, for example to fill in the license. The ID is the digest of what is listed at the start; weights and checkpoints carry
it, so those of another run are detected.
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
    JOURNAL,
    MANIFEST,
    RECIPE,
    RESULTS,
    WEIGHTS,
    reject_links,
    token_files,
)
from seqlab.tokens.untrusted_json import read_json_object

FORMAT = 2
LARGEST_MANIFEST = 1_000_000
LARGEST_FILE = 200_000_000
"""Maximum size of a tokenizer file in bytes."""
SCORED = (WEIGHTS, CHOICES, RESULTS, CARD, JOURNAL)
"""Files that are listed once the run is scored."""
OPTIONAL = (CHOICES, CARD, JOURNAL)
"""Choices exist only if the task makes any, a card and a journal only if the run was trained here."""
RESTORE = "Restore it from a copy, or train again."


@dataclass(frozen=True)
class Manifest:
    """The files of a run with their sizes and digests."""

    run_id: str
    data: Mapping[str, str]
    files: Mapping[str, FileRecord]

    @property
    def is_scored(self) -> bool:
        return WEIGHTS in self.files


def begin_manifest(folder: Path, *, recipe: str, data: Mapping[str, str]) -> Manifest:
    """List the recipe (which need not exist yet), the tokens and the data of a run."""
    files = {path.relative_to(folder).as_posix(): record_of_file(path) for path in token_files(folder)}
    files[RECIPE] = record_of(recipe.encode("utf-8"))
    run_id = hashlib.sha256(json.dumps([files, dict(data)], sort_keys=True).encode()).hexdigest()
    return _write(folder, Manifest(run_id, data, files))


def reopen_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Remove the files that scoring added, because the run is trained or scored again."""
    return _write(
        folder,
        replace(
            manifest, files={name: record for name, record in manifest.files.items() if name not in SCORED}
        ),
    )


def complete_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Add the files that scoring wrote. Until then, the run is unfinished."""
    made = {
        name: record_of_file(folder / name)
        for name in SCORED
        if name not in OPTIONAL or (folder / name).is_file()
    }
    return _write(folder, replace(manifest, files={**manifest.files, **made}))


def verify_start(folder: Path) -> Manifest:
    """Reject a run whose recipe or tokens have changed since training started.

    The other files need not exist; a resume writes them.
    """
    reject_links(folder)
    manifest = read_manifest(folder, with_earlier_format=True)
    _verify_parts(folder, manifest)
    return manifest


def verify(folder: Path) -> Manifest:
    """Reject a run if any file that predictions depend on is missing or changed."""
    reject_links(folder)
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
            else "the run was interrupted during scoring."
        )
        raise RunError(what, where=str(folder / CHOICES), cure=score_again(folder))
    return manifest


def verify_scored(folder: Path, name: str, manifest: Manifest) -> None:
    """Reject a file written by scoring that is missing or changed."""
    path = folder / name
    if not path.is_file():
        raise RunError("the file is missing.", where=str(path), cure=score_again(folder))
    if not is_intact(path, manifest.files.get(name)):
        raise RunError("the file was changed after training.", where=str(path), cure=score_again(folder))


def read_manifest(folder: Path, *, with_earlier_format: bool = False) -> Manifest:
    """Read the manifest without comparing it with the files; raises a RunError if it is missing, changed or of
    another format.

    The earlier format lists only recipe and tokens: enough to resume, but not to verify predictions.
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
            f"the run has format {str(version)[:20]}, but this version of seqlab reads format {FORMAT}.",
            where=str(path),
            cure="Update seqlab.",
        )
    try:
        return _parse(without_digest(content), path)
    except (ValueError, RecursionError) as error:
        raise RunError("the manifest was changed after training.", where=str(path), cure=RESTORE) from error


def score_again(folder: Path) -> str:
    """Say how to restore a file that scoring writes."""
    return (
        f"Restore it from a copy, or write it again: seqlab train --resume {shlex.quote(str(folder))}"
        " (for imported weights: import them again)"
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
    present = {entry.relative_to(folder).as_posix() for entry in token_files(folder)} | {RECIPE}
    for name in sorted((present | manifest.files.keys()) - set(SCORED)):
        _verify_part(folder, name, manifest.files.get(name), is_there=name in present)


def _verify_part(folder: Path, name: str, record: object, *, is_there: bool) -> None:
    """Verify a file that is listed from the start."""
    path, where = folder / name, str(folder / name)[:300]
    if not is_there:  # also a name that points outside the folder
        raise RunError(
            f"the file is missing, or not a file of a run ({name[:80]!r}).",
            where=str(folder / MANIFEST),
            cure=RESTORE,
        )
    if not isinstance(record, dict):
        raise RunError("the file was added after training.", where=where, cure="Remove it.")
    if not path.is_file():
        raise RunError("the file is missing.", where=where, cure=RESTORE)
    if (size := path.stat().st_size) > LARGEST_FILE:
        raise RunError(f"the file has {megabytes(size)}, which is too large.", where=where, cure=RESTORE)
    if not is_intact(path, record):
        raise RunError("the file was changed after training.", where=where, cure=RESTORE)
