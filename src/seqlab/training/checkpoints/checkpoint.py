"""Checkpoints: everything an exact resume needs, in folders that are complete or ignored.

A checkpoint is written to `tmp-<step>-<pid>`: every file is synced, the manifest (sizes, SHA-256, format)
comes last, and then the folder is renamed. The newest folder with a valid manifest is the last checkpoint,
whatever the names say. Two are kept.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from seqlab.core.errors import RunError
from seqlab.core.files import free_space, no_space, sha256, sync_folder, write_whole
from seqlab.tokens.untrusted_json import read_json_object
from seqlab.training.checkpoints.weights_file import read_weights, write_weights

FORMAT = 1
KEPT = 2
TENSORS, BEST, STATE, MANIFEST = "tensors.safetensors", "best.safetensors", "state.json", "MANIFEST.json"
LARGEST_JSON = 1_000_000
SPARE = 1 << 16
"""Bytes reserved for headers, numbers and the manifest."""


@dataclass(frozen=True)
class Checkpoint:
    """The contents of a checkpoint: tensors that training changes, the best weights so far and their step,
    and numbers.
    """

    step: int
    tensors: Mapping[str, Tensor]
    best: Mapping[str, Tensor] = field(default_factory=dict)
    best_step: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)


class Checkpoints:
    """The checkpoints of one run, identified by `run_id`; those of another run are rejected."""

    def __init__(self, folder: Path, *, run_id: str = "") -> None:
        self.folder = folder
        self.run_id = run_id

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint; older ones are kept until it is complete."""
        self._check_space(checkpoint)
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f"tmp-{checkpoint.step}-{os.getpid()}"
        place = self.folder / f"step-{checkpoint.step:09d}"
        try:
            temporary.mkdir()
            self._write(temporary, checkpoint)
            if (
                place.exists()
            ):  # a damaged one: after an intact one, training never reaches the same step again
                shutil.rmtree(place)
            temporary.rename(place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        sync_folder(self.folder)
        self._point_to(place)
        self._drop_others(place)

    def load(self) -> tuple[Checkpoint | None, list[str]]:
        """Load the newest intact checkpoint, and say what is wrong with each newer one that was skipped."""
        problems: list[str] = []
        for place in self._newest_first():
            try:
                return self._read(place), problems
            except RunError as error:
                problems.append(error.message.partition("\n")[0])
        return None, problems

    def newest_state(self) -> dict[str, Any]:
        """Read the numbers of the newest checkpoint whose state is intact, without reading its tensors;
        empty if there is none.
        """
        for place in self._newest_first():
            try:
                self._verify(place, (STATE,))
                return read_json_object(place / STATE, largest=LARGEST_JSON)
            except RunError:
                continue
        return {}

    def _write(self, folder: Path, checkpoint: Checkpoint) -> None:
        write_weights(folder / TENSORS, checkpoint.tensors, run_id=self.run_id)
        write_weights(folder / BEST, checkpoint.best, run_id=self.run_id, step=checkpoint.best_step)
        write_whole(folder / STATE, json.dumps({"step": checkpoint.step, **checkpoint.state}))
        files = {
            name: {"size": (folder / name).stat().st_size, "sha256": sha256(folder / name)}
            for name in (TENSORS, BEST, STATE)
        }
        write_whole(
            folder / MANIFEST,
            json.dumps({"format": FORMAT, "step": checkpoint.step, "run": self.run_id, "files": files}),
        )

    def _read(self, place: Path) -> Checkpoint:
        self._verify(place)
        state = read_json_object(place / STATE, largest=LARGEST_JSON)
        step = state.pop("step", None)
        if not isinstance(step, int):
            raise RunError("the checkpoint does not record its step.", where=str(place / STATE))
        tensors, best = (
            read_weights(place / name, run_id=self.run_id, verified=True) for name in (TENSORS, BEST)
        )
        return Checkpoint(step=step, tensors=tensors, best=best, state=state)

    def _verify(self, place: Path, names: Sequence[str] = (TENSORS, BEST, STATE)) -> None:
        path = place / MANIFEST
        manifest: dict[str, Any] = read_json_object(path, largest=LARGEST_JSON)
        if (version := manifest.get("format")) != FORMAT:
            raise RunError(
                f"the checkpoint has format {str(version)[:20]}, this seqlab reads format {FORMAT}.",
                where=str(path),
            )
        if manifest.get("run") != self.run_id:
            raise RunError("the checkpoint belongs to another run.", where=str(place))
        for name in names:
            try:
                size, digest = manifest["files"][name]["size"], manifest["files"][name]["sha256"]
                is_whole = (place / name).stat().st_size == size and sha256(place / name) == digest
            except (KeyError, TypeError) as error:
                raise RunError(f"the manifest has no checksum for {name}.", where=str(path)) from error
            except OSError as error:
                raise RunError(
                    f"the file cannot be read ({error.strerror}).", where=str(place / name)
                ) from error
            if not is_whole:
                raise RunError(
                    "the file is damaged: it does not match its checksum.", where=str(place / name)
                )

    def _newest_first(self) -> list[Path]:
        return sorted(self.folder.glob("step-*"), reverse=True)

    def _check_space(self, checkpoint: Checkpoint) -> None:
        needed = (
            sum(tensor.nbytes for part in (checkpoint.tensors, checkpoint.best) for tensor in part.values())
            + SPARE
        )
        if free_space(self.folder) < needed:
            raise no_space(self.folder, needed=needed)

    def _point_to(self, place: Path) -> None:
        """Link `last` to the newest checkpoint for convenience; seqlab itself relies on the manifests."""
        temporary = self.folder / f".last.{os.getpid()}"
        try:
            temporary.symlink_to(place.name)
            temporary.replace(self.folder / "last")
        except OSError:  # a file system without links
            temporary.unlink(missing_ok=True)

    def _drop_others(self, newest: Path) -> None:
        """Keep this checkpoint and the previous one.

        A checkpoint with a later step is damaged; otherwise training would have resumed from it.
        """
        until_now = [place for place in self._newest_first() if place <= newest]
        for place in {*self._newest_first()} - {*until_now[:KEPT]}:
            shutil.rmtree(place, ignore_errors=True)
