"""The images of a split, each once with all its captions."""

from __future__ import annotations

from seqlab.sources.base import text_of
from seqlab.tasks.captioning.codec import CaptioningCodec
from seqlab.tasks.captioning.split import CaptionSplit
from seqlab.tasks.seq2seq.evaluation_items import EvaluationItem


def collect_image_items(codec: CaptioningCodec, split: CaptionSplit) -> list[EvaluationItem]:
    """In the order of the numbers of the images."""
    items: dict[str, EvaluationItem] = {}
    for row in split.rows.rows():
        key, name = codec.cells.key(row), codec.cells.name(row)
        item = items.setdefault(key, EvaluationItem(row.where, name, "", []))
        if (caption := text_of(row, codec.recipe.data.target)) not in item.references:
            item.references.append(caption)
    return list(items.values())
