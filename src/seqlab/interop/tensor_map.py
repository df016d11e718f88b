"""Which published tensors make a tensor of seqlab's, said before any of them is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from seqlab.core.errors import DataError
from seqlab.interop.unused import Unused

Shape = tuple[int, ...]
MOST_SHOWN = 6


@dataclass(frozen=True)
class Wanted:
    """Published tensors by name and shape, and what is made of them."""

    parts: tuple[tuple[str, Shape], ...]
    make: Callable[..., Tensor]


def one(name: str, *shape: int) -> Wanted:
    """A tensor as it is."""
    return Wanted(((name, shape),), lambda tensor: tensor)


def turned(name: str, *shape: int) -> Wanted:
    """A matrix whose rows and columns change places: some publish W for x W, seqlab has it for W x."""
    return Wanted(((name, shape),), lambda tensor: tensor.T)


def joined(*wanted: Wanted) -> Wanted:
    """Several tensors, one below the other: one product in place of many."""
    ends = [sum(len(each.parts) for each in wanted[: place + 1]) for place in range(len(wanted))]
    spans = list(zip([0, *ends], ends, strict=False))
    return Wanted(
        tuple(part for each in wanted for part in each.parts),
        lambda *tensors: torch.cat([each.make(*tensors[start:end]) for each, (start, end) in zip(wanted, spans, strict=True)]),
    )


def zeros(*shape: int) -> Wanted:
    """Nothing was published for it, and nothing is what it adds."""
    return Wanted((), lambda: torch.zeros(shape))


def parts_of(wanted: Mapping[str, Wanted]) -> dict[str, Shape]:
    """The published tensors that are read, with their shapes."""
    return {name: shape for each in wanted.values() for name, shape in each.parts}


def check(
    wanted: Mapping[str, Wanted],
    found: Mapping[str, Shape],
    *,
    unused: Collection[Unused],
    where: str,
    described: str = "that the config describes",
    name_in_file: Callable[[str], str] = str,
) -> None:
    """Everything that is wanted is there in its shape, and nothing is there that nobody wants: all that is not so, in one message.

    unused: what may be there without being wanted.
    described: which tensors are wanted, in words.  name_in_file: what a file calls a tensor that is found.
    """
    parts = parts_of(wanted)
    missing = [name for name in parts if name not in found]
    wrong = [
        f"{name_in_file(name)} is {list(found[name])}, expected {list(shape)}"
        for name, shape in parts.items()
        if name in found and found[name] != shape
    ]
    strange = [name_in_file(name) for name in found if name not in parts and not any(entry.covers(name) for entry in unused)]
    problems = [_listed("missing", missing), _listed("of another shape", wrong), _listed("not understood", strange)]
    if any(problems):
        raise DataError(
            f"the tensors are not those {described}.\n" + "\n".join(f"  {problem}" for problem in problems if problem),
            where=where,
            cure="Is the folder whole, and do config and weights belong together? A variant with parts of its own cannot be imported.",
        )


def _listed(what: str, names: list[str]) -> str:
    if not names:
        return ""
    shown = [name[:120] for name in names[:MOST_SHOWN]]
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return f"{what} ({len(names)}): {'; '.join(shown)}{more}"
