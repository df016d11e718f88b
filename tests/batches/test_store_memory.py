"""Neither writing nor reading a large store fills the memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RESIDENT = """
import sys
from pathlib import Path
import numpy as np
from seqlab.batches.columns import SequenceColumn, StepColumn
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter

def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

folder, kind = Path(sys.argv[1]), sys.argv[2]
random = np.random.default_rng(2)
"""

WRITE_MUCH = """
future, label = SequenceColumn("future", np.dtype(np.float32), 1000), SequenceColumn("label", np.dtype(np.int32))
columns = [StepColumn("tokens", np.dtype(np.uint8)), future, label]
piece, writer = random.integers(0, 255, 100_000), StoreWriter(folder, columns)
before = most = resident()
for number in range(3000):
    writer.extend(tokens=piece) if kind == "in pieces" else None
    values = {"future": random.random(1000, np.float32), "label": number}
    writer.end_sequence(**values) if kind == "in pieces" else writer.append(tokens=piece, **values)
    most = max(most, resident())
writer.finish()
print(most - before)
"""

READ_THROUGH = """
store = Store(folder)
tokens, future, size = store["tokens"], store["future"], 1_000_000 if kind == "in order" else 100
last = tokens.num_steps - size
starts = range(0, last, size) if kind == "in order" else random.integers(0, last, 30_000).tolist()
before = most = resident()
for start in starts:
    tokens.window(start, start + size)
    most = max(most, resident())
for row in range(len(store)) if kind == "in order" else random.integers(0, len(store), 3000).tolist():
    tokens[row], future[row], store["label"][row]
    most = max(most, resident())
print(most - before)
"""


def growth(program: str, folder: Path, kind: str) -> int:
    """By how many bytes a process of its own grew."""
    return int(
        subprocess.run(
            [sys.executable, "-c", RESIDENT + program, str(folder), kind],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["in pieces", "at once"])
def test_memory_does_not_grow_while_a_large_store_is_written_and_read_through(
    tmp_path: Path, kind: str
) -> None:
    assert growth(WRITE_MUCH, tmp_path, kind) < 30_000_000
    assert (tmp_path / "tokens.bin").stat().st_size == 300_000_000
    for order in ("in order", "at random"):
        assert growth(READ_THROUGH, tmp_path, order) < 100_000_000
