"""Maps from published tensors to seqlab's tensors, defined before any of them is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from seqlab.core.errors import DataError
from seqlab.interop.unused_tensors import UnusedTensor

Shape = tuple[int, ...]
MAX_LISTED = 6


@dataclass(frozen=True)
class TensorSpec:
    """Published tensors by name and shape, and the function that combines them."""

    parts: tuple[tuple[str, Shape], ...]
    combine: Callable[..., Tensor]


def as_is(name: str, *shape: int) -> TensorSpec:
    """An unmodified tensor."""
    return TensorSpec(((name, shape),), lambda tensor: tensor)


def transposed(name: str, *shape: int) -> TensorSpec:
    """A transposed matrix: some models publish W for x W, seqlab uses W x."""
    return TensorSpec(((name, shape),), lambda tensor: tensor.T)


def concatenated(*specs: TensorSpec) -> TensorSpec:
    """Several tensors stacked vertically, for one product instead of many."""
    ends = [sum(len(spec.parts) for spec in specs[: index + 1]) for index in range(len(specs))]
    spans = list(zip([0, *ends], ends, strict=False))
    return TensorSpec(
        tuple(part for spec in specs for part in spec.parts),
        lambda *tensors: torch.cat(
            [spec.combine(*tensors[start:end]) for spec, (start, end) in zip(specs, spans, strict=True)]
        ),
    )


def zero_filled(*shape: int) -> TensorSpec:
    """A tensor of zeros for which nothing was published."""
    return TensorSpec((), lambda: torch.zeros(shape))


def required_tensors(specs: Mapping[str, TensorSpec]) -> dict[str, Shape]:
    """The published tensors that are read, with their shapes."""
    return {name: shape for spec in specs.values() for name, shape in spec.parts}


def check_tensors(
    specs: Mapping[str, TensorSpec],
    shapes: Mapping[str, Shape],
    *,
    unused: Collection[UnusedTensor],
    where: str,
    described: str = "that the config describes",
    name_in_file: Callable[[str], str] = str,
) -> None:
    """Check that all needed tensors exist with the right shape and that there are no unexpected ones; reports
    all problems in one message.

    unused: tensors that may exist without being needed. described: a phrase for the needed tensors. name_in_file:
    the name of a tensor in the file.
    """
    parts = required_tensors(specs)
    missing = [name for name in parts if name not in shapes]
    wrong = [
        f"{name_in_file(name)} is {list(shapes[name])}, expected {list(shape)}"
        for name, shape in parts.items()
        if name in shapes and shapes[name] != shape
    ]
    unexpected = [
        name_in_file(name)
        for name in shapes
        if name not in parts and not any(entry.covers(name) for entry in unused)
    ]
    problems = [
        _listed("missing", missing),
        _listed("wrong shape", wrong),
        _listed("unexpected", unexpected),
    ]
    if any(problems):
        raise DataError(
            f"the tensors are not those {described}.\n"
            + "\n".join(f"  {problem}" for problem in problems if problem),
            where=where,
            cure=(
                "Is the folder complete, and do the config and the weights belong together? Variants with"
                " custom layers cannot be imported."
            ),
        )


def _listed(what: str, names: list[str]) -> str:
    if not names:
        return ""
    listed = [name[:120] for name in names[:MAX_LISTED]]
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"{what} ({len(names)}): {'; '.join(listed)}{more}"
