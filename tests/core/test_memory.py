from __future__ import annotations

import subprocess
import sys


def test_asking_to_keep_freed_memory_never_fails() -> None:
    """In a process of its own, which it changes for good; what it saves is measured in docs/recipes/words.md."""
    program = "from seqlab.core.memory import keep_freed_memory; print(keep_freed_memory(), len(bytearray(50_000_000)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert answer.split()[0] in ("True", "False")  # glibc answers True
    assert answer.split()[1] == "50000000"
