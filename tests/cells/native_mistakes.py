"""Run by itself, because a kernel that reads beyond a tensor may end the process: call every kernel with
every single mistake.

    python -m tests.cells.native_mistakes

Prints one line for each mistake that was not refused, and how many were tried. Needs SEQLAB_CACHE to name a
folder with kernels.
"""

from __future__ import annotations

import sys

import torch

from seqlab.cells.native.library import native_kernels
from tests.cells.native_calls import KERNELS, call, every_mistake, right


def main() -> None:
    if native_kernels(torch.zeros(1)) is None:
        sys.exit("there are no kernels to try")
    tried = 0
    for kernel in KERNELS:
        for sizes in ((3, 3, 1), (2, 2, 0), (0, 0)):
            for dtype in (torch.float32, torch.float64):
                call(kernel, right(kernel, sizes, 5, dtype=dtype))
        for what, arguments in every_mistake(kernel):
            tried += 1
            try:
                call(kernel, arguments)
            except (RuntimeError, TypeError, IndexError):  # what torch's own operations raise
                continue
            sys.stdout.write(f"accepted by {kernel}: {what}\n")
            sys.stdout.flush()
    sys.stdout.write(f"tried {tried}\n")


if __name__ == "__main__":
    main()
