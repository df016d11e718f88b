"""Encode pairs as arrays of token ids, once, and cache them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.batches.cache import cached_store
from seqlab.batches.columns import SequenceColumn, StepColumn, smallest_dtype
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import DataError
from seqlab.pages.numbers import count_of
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, text_of
from seqlab.tasks.inputs.base import digest_of
from seqlab.tasks.seq2seq.codec import Ids
from seqlab.tasks.split import Split
from seqlab.tasks.translation.pair_tokens import PairTokens, row_language
from seqlab.tasks.translation.rows import PairRows

CHUNK = 256
"""Number of rows tokenized at once."""
MAX_LENGTH = 1024
"""Maximum tokens per side in training, unless data.max_length is set: a longer pair needs as much memory as
hundreds of others.
"""


def encode_pairs(
    recipe: Recipe,
    tokens: PairTokens,
    name: str,
    rows: PairRows,
    *,
    max_positions: int,
    cache_key: Mapping[str, Any],
) -> Split:
    """Encode a split into the columns `source`, `target` and `line`.

    max_positions: the longest side that the network can read. Longer pairs are excluded from the training split;
    in other splits they are an error, because all pairs are scored.
    cache_key: the key of the codec.
    """
    data = recipe.data
    max_length = min(data.max_length or MAX_LENGTH, max_positions) if name == "train" else 0
    made_from = {
        **cache_key,
        "columns": [data.source, data.target, data.language],
        "longest": [max_length, max_positions, name],
        "tokens": digest_of(tokens.save),
    }
    reads_targets = name == "valid"  # other splits are generated, and only then compared

    def write(folder: Path) -> None:
        writer, num_too_long = StoreWriter(folder, _columns(tokens)), 0
        for row, source, target in _encode_rows(recipe, tokens, rows):
            if max_length and max(len(source), len(target)) > max_length:
                num_too_long += 1
                continue
            longest = max(len(source), len(target) - 1 if reads_targets else 0)
            if longest > max_positions:
                raise _too_long(row, longest, max_positions)
            writer.append(source=source, target=target, line=row.line)
        writer.finish(skipped=rows.bad_rows.sentence(), too_long=num_too_long)

    store = cached_store(made_from, write, source=rows)
    skipped, num_too_long = store.facts["skipped"], store.facts["too_long"]
    if not len(store):
        limit = "model.max_positions" if max_length == max_positions else "data.max_length"
        raise _nothing_left(rows.name, num_too_long, max_length, limit=limit)
    notes = [skipped] if skipped else []
    if num_too_long:
        notes.append(
            f"excluded {count_of(num_too_long, 'pair')} with more than {max_length:,} tokens on one side"
        )
    return Split(name, rows, store, tuple(notes))


def _columns(tokens: PairTokens) -> list[StepColumn | SequenceColumn]:
    sides = {"source": tokens.source, "target": tokens.target}
    return [
        *(StepColumn(name, smallest_dtype(len(side.vocabulary))) for name, side in sides.items()),
        SequenceColumn("line", np.dtype(np.int64)),
    ]


def _encode_rows(recipe: Recipe, tokens: PairTokens, rows: PairRows) -> Iterator[tuple[Row, Ids, Ids]]:
    data = recipe.data
    for chunk in _chunks(rows.rows()):
        languages = [language for row in chunk for language in row_language(row, data.language)]
        sources = tokens.encode_sources([text_of(row, data.source) for row in chunk], languages)
        targets = tokens.encode_targets([text_of(row, data.target) for row in chunk])
        yield from zip(chunk, sources, targets, strict=True)


def _chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def _too_long(row: Row, length: int, max_positions: int) -> DataError:
    return DataError(
        f"one side has {length} tokens, but the model reads at most {max_positions}.",
        where=row.where,
        cure=f"Shorten or remove the pair, or train with model.max_positions={length} or more.",
    )


def _nothing_left(name: str, num_too_long: int, max_length: int, *, limit: str) -> DataError:
    """Return the error for a split without usable pairs. limit: the setting that limits the length of a
    side.
    """
    if not num_too_long:
        return DataError("there are no pairs left.", where=name, cure="Provide more data.")
    return DataError(
        f"all {num_too_long:,} pairs have more than {max_length:,} tokens on one side.",
        where=name,
        cure=f"Raise {limit}, or provide shorter pairs.",
    )
