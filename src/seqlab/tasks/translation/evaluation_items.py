"""The sources of a split, each once with all its references."""

from __future__ import annotations

from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, text_of
from seqlab.tasks.seq2seq.evaluation_items import EvaluationItem
from seqlab.tasks.translation.pair_tokens import row_language


def collect_pair_items(recipe: Recipe, rows: Source) -> list[EvaluationItem]:
    """In the order of the data. The same text with another target language is another item."""
    items: dict[tuple[str, str], EvaluationItem] = {}
    for row in rows.rows():
        text, target = text_of(row, recipe.data.source), text_of(row, recipe.data.target)
        language = "".join(row_language(row, recipe.data.language))
        item = items.setdefault((text, language), EvaluationItem(row.where, text, language, []))
        if target not in item.references:
            item.references.append(target)
    return list(items.values())
