"""Tests that need a process of their own: what they try may end it, or it must not know the checks of the
test suite.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def run_alone(*arguments: str, **variables: str) -> list[str]:
    """The lines that a module prints (`python -m` and these arguments); a signal or an error fails the
    test.
    """
    command, environment = [sys.executable, "-m", *arguments], {**os.environ, **variables}
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[:4000]}"
    return done.stdout.splitlines()
