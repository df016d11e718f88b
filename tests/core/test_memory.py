from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_asking_to_keep_freed_memory_never_fails() -> None:
    """In a process of its own, which it changes for good; what it saves is measured in
    docs/recipes/words.md.
    """
    program = (
        "from seqlab.core.memory import keep_freed_memory; print(keep_freed_memory(),"
        " len(bytearray(50_000_000)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert answer.split()[0] in ("True", "False")  # glibc answers True
    assert answer.split()[1] == "50000000"


HOLES = """
from seqlab.core.memory import give_back_freed_memory

def resident():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) * 1024

blocks = [bytearray(b"x" * 100_000) for _ in range(2000)]
del blocks[::2]
before = resident()
print(give_back_freed_memory(), before - resident())
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="how much memory is held is read from Linux"
)
def test_holes_between_what_is_in_use_are_given_back() -> None:
    given, back = subprocess.run(
        [sys.executable, "-c", HOLES], capture_output=True, text=True, check=True
    ).stdout.split()
    if given == "True":  # glibc
        assert int(back) > 70_000_000  # of the hundred million bytes between the thousand that stay
