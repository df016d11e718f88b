"""What the kernels do to tensors without values (meta and fake tensors): nothing, since they only write into
tensors that exist.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor


@cache
def register_fakes() -> None:
    """Once per process, after the library has been loaded."""
    for name in torch._C._dispatch_get_all_op_names():  # noqa: SLF001 - no public name
        if name.startswith("seqlab::"):
            torch.library.register_fake(name, _write_nothing)


def _write_nothing(*arguments: Any) -> None:
    devices = {argument.device for argument in arguments if isinstance(argument, Tensor)}
    if len(devices) > 1:
        raise RuntimeError(f"recurrent kernel: tensors on different devices: {sorted(map(str, devices))}")
