"""Many sources: sorted by length into batches, decoded, and answered in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor

from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.protocol import Translator
from seqlab.decoding.ready import ready_to_write
from seqlab.decoding.search import Search, Sources

LOOK_AHEAD = 16
"""Batches that are read before the first is decoded, so that sources of about the same length find each other."""


def write_in_order(
    model: Translator,
    sources: Iterable[Shaped[Tensor, "source *features"]],
    search: Search,
    *,
    batch_size: int = 32,
    look_ahead: int = LOOK_AHEAD,
    number_of: Callable[[Shaped[Tensor, "source *features"]], int] | None = None,
    device: torch.device | None = None,
) -> Iterator[list[Hypothesis]]:
    """For each source its targets, the best first, in the order of the sources.

    Never more than `batch_size * look_ahead` sources are held, so that a stream of any length takes steady memory; with a `look_ahead` of 1
    answers come after every `batch_size` sources. What a source gets does not depend on its neighbours.

    number_of: the number of a source, by which its draws and its prefix are known; its place when left out.
    """
    model = ready_to_write(model)
    stream = iter(sources)
    first = 0
    while window := list(islice(stream, batch_size * look_ahead)):
        numbers = [number_of(source) for source in window] if number_of else range(first, first + len(window))
        yield from _window(model, window, numbers, search, batch_size, device)
        first += len(window)


def padded(
    sources: Sequence[Shaped[Tensor, "source *features"]], *, device: torch.device | None = None
) -> tuple[Shaped[Tensor, "batch time *features"], Bool[Tensor, "batch time"]]:
    """Sources side by side, filled up with zeros, which nobody looks at; an empty one has one step, which is no token."""
    time = max(1, *map(len, sources))
    tokens = sources[0].new_zeros(len(sources), time, *sources[0].shape[1:], device=device)
    is_token = torch.zeros(len(sources), time, dtype=torch.bool, device=device)
    for row, source in enumerate(sources):
        tokens[row, : len(source)] = source
        is_token[row, : len(source)] = True
    return tokens, is_token


def _window(
    model: Translator, sources: Sequence[Tensor], numbers: Sequence[int], search: Search, batch_size: int, device: torch.device | None
) -> list[list[Hypothesis]]:
    order = sorted(range(len(sources)), key=lambda place: -len(sources[place]))  # the longest first: what needs most memory is seen at once
    answers: dict[int, list[Hypothesis]] = {}
    for start in range(0, len(order), batch_size):
        places = order[start : start + batch_size]
        tokens, is_token = padded([sources[place] for place in places], device=device)
        found = search.run(model, Sources(tokens, is_token, [numbers[place] for place in places]))
        answers |= dict(zip(places, found, strict=True))
    return [answers[place] for place in range(len(sources))]
