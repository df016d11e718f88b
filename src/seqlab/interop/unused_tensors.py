"""Published tensors that the network does not read: each has a reason, which is checked before the tensor
is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

import torch
from torch import Tensor

from seqlab.core.errors import DataError
from seqlab.interop.formats.json_files import REDOWNLOAD_HINT

Shapes = Mapping[str, tuple[int, ...]]
MAX_LISTED = 6


@dataclass(frozen=True)
class UnusedTensor:
    """Tensors that are skipped.

    name: the name of one tensor, or a pattern such as classifier.* for all parts of a head.
    reason: what the tensor contains.
    copy_of: the tensor that it must equal; the config says that the two are tied.
    holds: checks that a tensor contains what the reason says.
    """

    name: str
    reason: str
    copy_of: str = ""
    holds: Callable[[Tensor], bool] | None = None

    def covers(self, name: str) -> bool:
        return fnmatchcase(name, self.name)


def resolve_tied(shapes: Collection[str], *names: str) -> tuple[str, tuple[UnusedTensor, ...]]:
    """For tensors that the config ties: the name of the first one in the file, and the others as copies of
    it.

    >>> resolve_tied(["lm_head.weight"], "wte.weight", "lm_head.weight")[0]
    'lm_head.weight'
    """
    chosen = next((name for name in names if name in shapes), names[0])
    return chosen, tuple(
        UnusedTensor(name, f"a copy of {chosen}", copy_of=chosen) for name in names if name != chosen
    )


def is_one_number(tensor: Tensor) -> bool:
    return tensor.numel() == 1


def check_unused(
    unused: Collection[UnusedTensor],
    shapes: Shapes,
    *,
    used: Collection[str],
    read: Callable[[str], Tensor],
    where: str,
) -> None:
    """Check that every skipped tensor matches its reason; reports all mismatches in one message.

    shapes: the tensors of the file.  used: those that the network reads.
    """
    left_out = [
        (name, next(entry for entry in unused if entry.covers(name))) for name in shapes if name not in used
    ]
    copies = [
        (name, entry.copy_of)
        for name, entry in left_out
        if entry.copy_of and not _equal(name, entry.copy_of, shapes, read)
    ]
    others = [
        (name, entry.reason)
        for name, entry in left_out
        if entry.holds is not None and not entry.holds(read(name))
    ]
    if copies:
        lines = [f"{name[:120]} differs from {original}" for name, original in copies[:MAX_LISTED]]
        raise DataError(
            "the config says that these tensors are tied, but they differ:\n"
            + "\n".join(f"  {line}" for line in lines),
            where=where,
            cure=(
                "If the model was trained with separate tables, set tie_word_embeddings to false in"
                " config.json. "
            )
            + REDOWNLOAD_HINT,
        )
    if others:
        lines = [f"{name[:120]} does not contain {reason}" for name, reason in others[:MAX_LISTED]]
        raise DataError(
            "tensors that should be ignored contain unexpected values:\n"
            + "\n".join(f"  {line}" for line in lines),
            where=where,
            cure=REDOWNLOAD_HINT,
        )


def _equal(name: str, original: str, shapes: Shapes, read: Callable[[str], Tensor]) -> bool:
    return shapes[name] == shapes[original] and torch.equal(
        read(name).to(torch.float32), read(original).to(torch.float32)
    )
