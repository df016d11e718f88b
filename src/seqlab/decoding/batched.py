"""Many sources: sorted by length into batches, decoded, and answered in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor

from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.prepared import DecodableModel, parameter_device, prepare_decoder
from seqlab.decoding.protocol import Seq2SeqModel
from seqlab.decoding.search import Search, SourceBatch

LOOKAHEAD_BATCHES = 16
"""Batches that are read before the first is decoded, so that sources of about the same length find each
other.
"""


def decode_batched(
    model: DecodableModel,
    sources: Iterable[Shaped[Tensor, "source *features"]],
    search: Search,
    *,
    batch_size: int = 32,
    lookahead_batches: int = LOOKAHEAD_BATCHES,
    get_source_id: Callable[[Shaped[Tensor, "source *features"]], int] | None = None,
    device: torch.device | None = None,
) -> Iterator[list[Hypothesis]]:
    """For each source its targets, the best first, in the order of the sources.

    Never more than `batch_size * lookahead_batches` sources are held, so that a stream of any length takes
    steady memory; with a `lookahead_batches` of 1 answers come after every `batch_size` sources. What a
    source gets does not depend on its neighbours.

    model: a prepared decoder where there are several calls; the weights of a bare model are laid out anew in
    every call. get_source_id: the number of a source, by which its draws and its prefix are known; its place
    when left out. device: of the search; that of the model when left out.
    """
    prepared, device = prepare_decoder(model), device or parameter_device(model)
    stream = iter(sources)
    first = 0
    while window := list(islice(stream, batch_size * lookahead_batches)):
        source_ids = (
            [get_source_id(source) for source in window]
            if get_source_id
            else range(first, first + len(window))
        )
        yield from _decode_window(prepared.step_model, window, source_ids, search, batch_size, device)
        first += len(window)


def pad_sources(
    sources: Sequence[Shaped[Tensor, "source *features"]], *, device: torch.device | None = None
) -> tuple[Shaped[Tensor, "batch time *features"], Bool[Tensor, "batch time"]]:
    """Sources side by side, filled up with zeros, which nobody looks at; an empty one has one step, which is
    no token.
    """
    time = max(1, *map(len, sources))
    tokens = sources[0].new_zeros(len(sources), time, *sources[0].shape[1:], device=device)
    is_token = torch.zeros(len(sources), time, dtype=torch.bool, device=device)
    for row, source in enumerate(sources):
        tokens[row, : len(source)] = source
        is_token[row, : len(source)] = True
    return tokens, is_token


def _decode_window(
    model: Seq2SeqModel,
    sources: Sequence[Tensor],
    source_ids: Sequence[int],
    search: Search,
    batch_size: int,
    device: torch.device | None,
) -> list[list[Hypothesis]]:
    order = sorted(
        range(len(sources)), key=lambda index: -len(sources[index])
    )  # the longest first: what needs most memory is seen at once
    answers: dict[int, list[Hypothesis]] = {}
    for start in range(0, len(order), batch_size):
        indices = order[start : start + batch_size]
        tokens, is_token = pad_sources([sources[index] for index in indices], device=device)
        hypotheses = search.run(
            model, SourceBatch(tokens, is_token, [source_ids[index] for index in indices])
        )
        answers |= dict(zip(indices, hypotheses, strict=True))
    return [answers[index] for index in range(len(sources))]
