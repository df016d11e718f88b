"""The commit of the working directory, for the record of a run."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any, Self

SECONDS = 5.0
"""A status that takes longer, as in a huge repository on a network drive, is not recorded."""
OPTIONS = ("--no-optional-locks", "-c", "core.fsmonitor=false")
"""Write nothing, and start no program that a repository configures."""
STATUS = ("status", "--porcelain=v2", "--branch", "--untracked-files=no")
COMMIT = re.compile("[0-9a-f]{40,64}")
SHORT = 12


@dataclass(frozen=True)
class GitState:
    """A commit, and whether tracked files differ from it."""

    commit: str
    is_dirty: bool

    @classmethod
    def from_json(cls, value: Any) -> Self | None:
        """The state that a file records; None where there is none."""
        commit = value.get("commit") if isinstance(value, dict) else None
        if not isinstance(commit, str) or not COMMIT.fullmatch(commit):
            return None
        return cls(commit, value.get("dirty") is True)

    def to_json(self) -> dict[str, Any]:
        return {"commit": self.commit, "dirty": self.is_dirty}

    def describe(self) -> str:
        """
        >>> GitState("d670460b4b4aece5915caf5c68d12f560a9fe3e4", is_dirty=True).describe()
        'commit d670460b4b4a with uncommitted changes'
        """
        return f"commit {self.commit[:SHORT]}{' with uncommitted changes' if self.is_dirty else ''}"


def read_git_state() -> GitState | None:
    """The state of the working directory; None outside a repository, before its first commit, or without git."""
    git = shutil.which("git")
    if git is None:
        return None
    try:
        status = subprocess.run(  # noqa: S603 (nothing of the user's among the arguments)
            [git, *OPTIONS, *STATUS],
            capture_output=True,
            check=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_status(status.stdout.decode("utf-8", "replace"))


def parse_status(text: str) -> GitState | None:
    """
    >>> parse_status("# branch.oid 4b825dc642cb6eb9a060e54bf8d69288fbee4904\\n# branch.head main\\n")
    GitState(commit='4b825dc642cb6eb9a060e54bf8d69288fbee4904', is_dirty=False)
    """
    lines = text.splitlines()
    commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid ")), "(initial)")
    if commit == "(initial)":
        return None
    return GitState(commit, is_dirty=any(not line.startswith("#") for line in lines))
