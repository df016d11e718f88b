"""Drop-in replacements for torch.nn built on seqlab's cells, attention and blocks: the same names, arguments,
shapes and state dicts. Every other name of torch.nn (Module, Linear, functional, utils, …) is torch's own.

>>> from seqlab import nn
>>> nn.LSTM(10, 20, cell="coupled"), nn.Linear(10, 20)
(LSTM(10, 20, cell=coupled_lstm), Linear(in_features=10, out_features=20, bias=True))
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch.nn

from seqlab.nn import layers
from seqlab.nn.layers import *  # noqa: F403

if TYPE_CHECKING:  # torch's names, for type checkers and editors; where both have one, it is ours
    from torch.nn import *  # type: ignore[assignment]  # noqa: F403
    from torch.nn import attention, functional, init, modules, parallel, utils  # noqa: F401

    from seqlab.nn.layers import *  # noqa: F403

__all__ = layers.__all__

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A name that seqlab does not have is torch.nn's."""
        if name.startswith("__"):  # torch.nn's own file, path, and so on
            raise AttributeError(name)
        try:
            return getattr(torch.nn, name)
        except AttributeError:
            what = f"neither seqlab.nn nor torch.nn has '{name}'"
            raise AttributeError(what, name=name, obj=sys.modules[__name__]) from None


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(torch.nn)})
