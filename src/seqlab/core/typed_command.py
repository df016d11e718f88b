"""The command that the user typed, for the record of a run."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def typed_command() -> str:
    """`seqlab train …` as it was typed; empty inside another program."""
    program = Path(sys.argv[0]) if sys.argv else Path()
    is_module = program.name in ("__main__.py", "main.py") and "seqlab" in program.parts
    if program.stem != "seqlab" and not is_module:
        return ""
    return shlex.join(["seqlab", *sys.argv[1:]])
