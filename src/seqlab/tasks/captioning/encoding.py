"""Encode captions and their images as arrays, once, and cache them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.batches.cache import cached_store
from seqlab.batches.columns import SequenceColumn, StepColumn, smallest_dtype
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import DataError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, text_of
from seqlab.tasks.captioning.inputs import ImageInputs
from seqlab.tasks.captioning.rows import CaptionRows, ImageCells
from seqlab.tasks.inputs.base import digest_of
from seqlab.tasks.seq2seq.codec import TargetTokens
from seqlab.tasks.split import Split


@dataclass(frozen=True)
class CaptionSplit(Split):
    """The store holds every caption with the number of its image."""

    images: Store = field(kw_only=True)
    """Every image once, as rows of bytes."""


def encode_captions(
    recipe: Recipe,
    tokens: TargetTokens,
    inputs: ImageInputs,
    cells: ImageCells,
    name: str,
    rows: CaptionRows,
    *,
    cache_key: Mapping[str, Any],
) -> CaptionSplit:
    """Encode a split into the columns `caption`, `image` and `line`, and the images into the column `pixels`.

    cache_key: the key of the codec.
    """
    data, first_rows = recipe.data, rows.first_rows()
    if not first_rows:
        raise DataError("there are no images with captions left.", where=rows.name, cure="Provide more data.")
    made_from: dict[str, Any] = {
        **cache_key,
        "columns": [data.source, data.target],
        "images": [inputs.height, inputs.width, inputs.channels],
    }

    def write_captions(folder: Path) -> None:
        numbers = {key: number for number, key in enumerate(first_rows)}
        integers = [SequenceColumn(column, np.dtype(np.int64)) for column in ("image", "line")]
        caption = StepColumn("caption", smallest_dtype(len(tokens.target.vocabulary)))
        writer = StoreWriter(folder, [caption, *integers])
        for row in rows.rows():
            (ids,) = tokens.encode_targets([text_of(row, data.target)])
            writer.append(caption=ids, image=numbers[cells.key(row)], line=row.line)
        writer.finish(skipped=rows.bad_rows.sentence())

    images = cached_store(
        made_from, lambda folder: _write_images(folder, inputs, cells, first_rows), source=rows
    )
    store = cached_store({**made_from, "tokens": digest_of(tokens.save)}, write_captions, source=rows)
    skipped = store.facts["skipped"]
    return CaptionSplit(name, rows, store, (skipped,) if skipped else (), images=images)


def _write_images(
    folder: Path, inputs: ImageInputs, cells: ImageCells, first_rows: Mapping[str, Row]
) -> None:
    pixels = StepColumn("pixels", np.dtype(np.uint8), inputs.width * inputs.channels)
    writer = StoreWriter(folder, [pixels])
    for row in first_rows.values():
        writer.append(pixels=inputs.rows(cells.pixels(row)))
    writer.finish()
