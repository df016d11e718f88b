"""The cost of verifying files: digests of the standard library as a stream, and the check of a cached store.

python -m benchmarks.digests [MEGABYTES]
"""

from __future__ import annotations

import hashlib
import tempfile
import zlib
from pathlib import Path

import numpy as np

from benchmarks.timing import interleaved, verdict
from seqlab.batches.columns import StepColumn
from seqlab.batches.store import damaged_files
from seqlab.batches.store_writer import StoreWriter

QUICK = True
CHUNK = 1 << 20
TARGET = 1.0
"""Seconds for a gigabyte."""


def main(arguments: list[str]) -> None:
    megabytes = int(arguments[0]) if arguments else 200
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        writer = StoreWriter(folder, [StepColumn("tokens", np.dtype(np.uint16))])
        ids = np.random.default_rng(0).integers(0, 60_000, 500_000, dtype=np.uint16)
        for _ in range(megabytes):
            writer.append(tokens=ids)
        writer.finish()
        path = folder / "tokens.bin"
        timings = interleaved(
            {
                "read only": lambda: _stream(path, lambda _: None),
                "zlib.crc32": lambda: _stream(path, zlib.crc32),
                "hashlib.sha256": lambda: _stream(path, hashlib.sha256().update),
                "hashlib.blake2b": lambda: _stream(path, hashlib.blake2b().update),
                "a store is opened": lambda: damaged_files(folder),
            },
            repeats=5,
        )
    for timing in timings.values():
        print(f"{timing.line()}  ({timing.best_cpu / megabytes * 1000:.2f} s of CPU per GB)")
    seconds = timings["a store is opened"].best_wall / megabytes * 1000
    print("a store is opened:", verdict(seconds, TARGET, unit="s wall per GB"))


def _stream(path: Path, update: object) -> None:
    assert callable(update)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            update(chunk)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
