"""A store with every kind of column, for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from seqlab.batches.columns import SequenceColumn, StepColumn
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter

BYTE, INT32, INT64, FLOAT32 = (np.dtype(kind) for kind in (np.uint8, np.int32, np.int64, np.float32))
TOKENS = StepColumn("tokens", BYTE)
FILES = ["source.bin", "source.offsets.bin", "target.bin", "target.offsets.bin", "label.bin", "future.bin"]
"""The files of its columns."""


def small_store(folder: Path) -> Store:
    """Source and target of different lengths, a class, and two numbers to predict."""
    columns = [
        StepColumn("source", BYTE),
        StepColumn("target", INT32),
        SequenceColumn("label", INT64),
        SequenceColumn("future", FLOAT32, 2),
    ]
    writer = StoreWriter(folder, columns)
    writer.append(source=[1, 2, 3], target=[400], label=7, future=[0.5, -0.25])
    writer.append(source=[], target=[500, 600], label=8, future=[1.5, 2.5])
    writer.append(source=[4], target=[], label=9, future=[3.5, 4.5])
    writer.finish()
    return Store(folder)
