"""The share of messy files that are understood without any setting: task, columns and number of rows.

The files and the truth about them are in `tests/messy`.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from tests.messy.measure import MESSY_FILES, understand


def main(arguments: list[str]) -> None:
    argparse.ArgumentParser(prog="benchmarks.messy_files").parse_args(arguments)
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SEQLAB_CACHE"] = str(Path(folder) / "cache")
        for file in MESSY_FILES:
            understood = understand(file, Path(folder))
            right += not understood.wrong
            print(f"{file.name:20} {understood.wrong or 'right'}")
    print(f"{right} of {len(MESSY_FILES)} right")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
