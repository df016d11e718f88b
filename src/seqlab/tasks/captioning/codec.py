"""Images as standardized rows of pixels, captions as token ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

from jaxtyping import Float
from torch import Tensor

from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, text_of
from seqlab.tasks.captioning.defaults import require_image_settings
from seqlab.tasks.captioning.encoding import CaptionSplit, encode_captions
from seqlab.tasks.captioning.inputs import MAX_FITTED, ImageInputs
from seqlab.tasks.captioning.rows import CaptionRows, ImageCells
from seqlab.tasks.seq2seq.codec import SPECIALS, Seq2SeqCodec, TargetTokens
from seqlab.tasks.seq2seq.scores import EvaluationItem
from seqlab.tokens.base import tokenizers


@dataclass(frozen=True)
class CaptioningCodec(Seq2SeqCodec):
    """Encodes images and captions. Each caption of an image is a training pair; together they are the
    references for scoring.
    """

    inputs: ImageInputs
    cells: ImageCells

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        cells, tokens = ImageCells(recipe), recipe.tokens
        rows = CaptionRows(train, recipe, cells)
        settings = tokens.model_copy(
            update={"kind": tokens.target_kind or tokens.kind, "size": tokens.target_size or tokens.size}
        )
        captions = (text_of(row, recipe.data.target) for row in rows.rows())
        tokenizer = tokenizers.get(settings.kind).fit(captions, settings, specials=SPECIALS)
        images = (cells.pixels(row) for row in islice(rows.first_rows().values(), MAX_FITTED))
        inputs = ImageInputs.fit(images, require_image_settings(recipe.model), size=recipe.data.image_size)
        return cls(recipe, TargetTokens(tokenizer), inputs, cells)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        inputs = ImageInputs.load(folder, require_image_settings(recipe.model))
        return cls(recipe, TargetTokens.load(folder), inputs, ImageCells(recipe))

    def save(self, folder: Path) -> None:
        self.inputs.save(folder)
        self.tokens.save(folder)

    def encode_split(self, name: str, source: Source) -> CaptionSplit:
        rows = CaptionRows(source, self.recipe, self.cells)
        return encode_captions(
            self.recipe, self.tokens, self.inputs, self.cells, name, rows, cache_key=self.cache_key()
        )

    def encode_inputs(self, inputs: Sequence[Any]) -> Iterator[Float[Tensor, "height features"]]:
        """Encode image files, given by name, or images as rows of pixels, one at a time."""
        return (
            self.inputs.steps(self.inputs.rows(self.cells.read_input(value, number)))
            for number, value in enumerate(inputs, start=1)
        )


def collect_image_items(codec: CaptioningCodec, split: CaptionSplit) -> list[EvaluationItem]:
    """Collect the captions of every image, in the order of the image numbers."""
    items: dict[str, EvaluationItem] = {}
    for row in split.rows.rows():
        key, name = codec.cells.key(row), codec.cells.name(row)
        item = items.setdefault(key, EvaluationItem(row.where, name, "", []))
        if (caption := text_of(row, codec.recipe.data.target)) not in item.references:
            item.references.append(caption)
    return list(items.values())
