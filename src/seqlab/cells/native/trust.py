"""Whether a compiled library may be loaded: code that another user could have put there is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def distrust_reason(path: Path) -> str:
    """Why a file could hold another user's code: the file, or a folder above it, belongs to another user or may
    be written by others. Empty if only this user and root can change it.

    A folder with the sticky bit, such as /tmp, does not let anyone replace the files of other users. A group of
    the same number as its owner is the user's own, as Debian and Fedora create it.
    """
    if os.name != "posix":
        return ""
    real = path.resolve()
    for place in (real, *real.parents):
        status = place.stat()
        if status.st_uid not in (os.geteuid(), 0):
            return f"{place} belongs to another user"
        if status.st_mode & stat.S_ISVTX and place != real:
            continue
        others = stat.S_IWOTH if status.st_gid == status.st_uid else stat.S_IWOTH | stat.S_IWGRP
        if status.st_mode & others:
            return f"{place} is writable by other users"
    return ""
