"""Decode many sources: sort them by length into batches and return the results in the original order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor

from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.prepared_decoder import DecodableModel, parameter_device, prepare_decoder
from seqlab.decoding.protocol import Seq2SeqModel
from seqlab.decoding.search import Search, SourceBatch

LOOKAHEAD_BATCHES = 16
"""Batches to read before the first is decoded, so that sources of similar length can be batched together.
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
    """Yields the targets of each source, best first, in the order of the sources.

    At most `batch_size * lookahead_batches` sources are held at a time, so a stream of any length needs
    constant memory; with `lookahead_batches=1` results come after every `batch_size` sources. The result of a
    source does not depend on the other sources.

    model: use a prepared decoder for several calls, since the weights of a plain model are packed again in
    every call. get_source_id: the number of a source, which identifies its random numbers and its prefix;
    defaults to its index. device: of the search; defaults to that of the model.
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
    """Pad the sources with zeros, which are masked; an empty source has one step of padding."""
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
    )  # longest first, so that running out of memory shows immediately
    answers: dict[int, list[Hypothesis]] = {}
    for start in range(0, len(order), batch_size):
        indices = order[start : start + batch_size]
        tokens, is_token = pad_sources([sources[index] for index in indices], device=device)
        hypotheses = search.run(
            model, SourceBatch(tokens, is_token, [source_ids[index] for index in indices])
        )
        answers |= dict(zip(indices, hypotheses, strict=True))
    return [answers[index] for index in range(len(sources))]
