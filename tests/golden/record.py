"""python -m tests.golden.record [NAME…]: run cases (all when none is named) and write down what they give.

With --check nothing is written; the differences from what is recorded are printed, and the exit status is 1
if there are any.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.golden.cases import CASES
from tests.golden.comparing import differences, path_of, read, shortened, write
from tests.golden.running import ENVIRONMENT, observed


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden.record", description="Write down what the golden cases give."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases; all when none is named")
    parser.add_argument("--check", action="store_true", help="write nothing, print the differences")
    options = parser.parse_args(words)
    os.environ |= ENVIRONMENT
    if unknown := [name for name in options.names if name not in CASES]:
        parser.error(f"no such case: {', '.join(unknown)}. There are: {', '.join(CASES)}")
    changed = [name for name in options.names or CASES if _renew(name, is_check=options.check)]
    print(f"{len(changed)} of {len(options.names or CASES)} cases differ from what was recorded")  # noqa: T201 - a command
    return 1 if changed and options.check else 0


def _renew(name: str, *, is_check: bool) -> bool:
    """Whether a case gives something else than before."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SEQLAB_CACHE"] = folder  # nothing of the user's own is read or written
        found = observed(name, Path(folder))
    lines = list(differences(read(name), shortened(found))) if path_of(name).is_file() else ["new"]
    if lines:
        print(f"{name}: {lines[0]}" + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""), flush=True)  # noqa: T201 - a command
    if not is_check:
        write(name, found)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
