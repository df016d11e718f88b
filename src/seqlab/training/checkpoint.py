"""Checkpoints: all that an exact resume needs, in folders that are whole or do not count.

A checkpoint is written as `tmp-<step>-<pid>`, every file synced, the manifest (sizes, SHA-256, format) last, and renamed once. The
newest folder with a valid manifest is the last checkpoint, whatever the names say. Two are kept.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from seqlab.core.errors import EnvironmentProblem, RunError
from seqlab.core.files import free_space, megabytes, sha256, sync_folder, write_whole
from seqlab.training.weights import read_weights, write_weights

FORMAT = 1
KEPT = 2
TENSORS, BEST, STATE, MANIFEST = "tensors.safetensors", "best.safetensors", "state.json", "MANIFEST.json"


@dataclass(frozen=True)
class Checkpoint:
    """What is saved: the tensors that training changes, the best weights so far, and numbers."""

    step: int
    tensors: Mapping[str, Tensor]
    best: Mapping[str, Tensor] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, checkpoint: Checkpoint, *, best_is_new: bool) -> Path:
        """Write a checkpoint; the older ones stay until it is whole."""
        self._check_space(checkpoint)
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f"tmp-{checkpoint.step}-{os.getpid()}"
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir()
            write_weights(temporary / TENSORS, checkpoint.tensors)
            self._save_best(temporary / BEST, checkpoint, is_new=best_is_new)
            write_whole(temporary / STATE, json.dumps({"step": checkpoint.step, **checkpoint.state}))
            files = {name: {"size": (temporary / name).stat().st_size, "sha256": sha256(temporary / name)} for name in (TENSORS, BEST, STATE)}
            write_whole(temporary / MANIFEST, json.dumps({"format": FORMAT, "step": checkpoint.step, "files": files}))
            place = self.folder / f"step-{checkpoint.step:09d}"
            shutil.rmtree(place, ignore_errors=True)  # a damaged one, or the same step saved again after a resume
            temporary.rename(place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        sync_folder(self.folder)
        self._point_to(place)
        self._drop_old()
        return place

    def load(self) -> Checkpoint | None:
        """The newest whole checkpoint; damaged ones are passed over. None when there is none."""
        for place in self._by_age():
            try:
                return self._read(place)
            except (RunError, OSError, ValueError, KeyError):
                continue
        return None

    def problems(self) -> list[str]:
        """What is wrong with each damaged checkpoint, for a message."""
        found = []
        for place in self._by_age():
            try:
                self._verify(place)
            except RunError as error:
                found.append(str(error).partition("\n")[0])
        return found

    def _read(self, place: Path) -> Checkpoint:
        self._verify(place)
        state = json.loads((place / STATE).read_text(encoding="utf-8"))
        return Checkpoint(step=state.pop("step"), tensors=read_weights(place / TENSORS), best=read_weights(place / BEST), state=state)

    def _verify(self, place: Path) -> None:
        try:
            manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
            wanted = {name: (manifest["files"][name]["size"], manifest["files"][name]["sha256"]) for name in (TENSORS, BEST, STATE)}
            version = int(manifest["format"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError("the checkpoint has no readable manifest.", where=str(place / MANIFEST)) from error
        if version > FORMAT:
            raise RunError(f"the checkpoint has format {version}, this seqlab reads up to {FORMAT}.", where=str(place), cure="Update seqlab.")
        for name, (size, digest) in wanted.items():
            path = place / name
            if not path.is_file() or path.stat().st_size != size or sha256(path) != digest:
                raise RunError("the checkpoint is damaged: the file is not the one that was saved.", where=str(path))

    def _save_best(self, path: Path, checkpoint: Checkpoint, *, is_new: bool) -> None:
        """The best weights are linked from the checkpoint before when they have not changed."""
        newest = next(iter(self._by_age()), None)
        if not is_new and newest is not None:
            try:
                os.link(newest / BEST, path)
            except OSError:  # a file system without links
                pass
            else:
                return
        write_weights(path, checkpoint.best)

    def _by_age(self) -> list[Path]:
        return sorted(self.folder.glob("step-*"), reverse=True) if self.folder.is_dir() else []

    def _check_space(self, checkpoint: Checkpoint) -> None:
        needed = sum(tensor.nbytes for part in (checkpoint.tensors, checkpoint.best) for tensor in part.values()) + (1 << 16)
        if (free := free_space(self.folder)) < needed:
            raise EnvironmentProblem(
                f"no space left for a checkpoint: needs {megabytes(needed)}, has {megabytes(free)}.",
                where=str(self.folder),
                cure="Free some space and resume; the checkpoint before is whole.",
            )

    def _point_to(self, place: Path) -> None:
        """`last` leads people to the newest checkpoint; seqlab itself goes by the manifests."""
        link = self.folder / "last"
        temporary = self.folder / f".last.{os.getpid()}"
        try:
            temporary.unlink(missing_ok=True)
            temporary.symlink_to(place.name)
            temporary.replace(link)
        except OSError:  # a file system without links
            temporary.unlink(missing_ok=True)

    def _drop_old(self) -> None:
        for place in self._by_age()[KEPT:]:
            shutil.rmtree(place, ignore_errors=True)
        for remains in self.folder.glob("tmp-*"):
            shutil.rmtree(remains, ignore_errors=True)
