"""Score the translations of a split against their references."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from jaxtyping import Float

from seqlab.pages.sections.attention import AttentionExample, AttentionMaps
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, text_of
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.seq2seq.predictor import MAX_MAP_TOKENS, MAX_MAPS
from seqlab.tasks.seq2seq.scores import CHARACTER_KINDS, EvaluationItem, score_outputs, show_numbered
from seqlab.tasks.split import Split
from seqlab.tasks.translation.codec import TranslationCodec
from seqlab.tasks.translation.pair_tokens import row_language
from seqlab.tasks.translation.predictor import TranslationPredictor

BASELINE = "copying the source"


def collect_pair_items(recipe: Recipe, rows: Source) -> list[EvaluationItem]:
    """Collect the references of every source, in data order. The same text with another target language is
    another item.
    """
    items: dict[tuple[str, str], EvaluationItem] = {}
    for row in rows.rows():
        text, target = text_of(row, recipe.data.source), text_of(row, recipe.data.target)
        language = "".join(row_language(row, recipe.data.language))
        item = items.setdefault((text, language), EvaluationItem(row.where, text, language, []))
        if target not in item.references:
            item.references.append(target)
    return list(items.values())


class TranslationEvaluator(Evaluator[TranslationCodec, Split, TranslationPredictor]):
    """Scores translations, with copying the source as the baseline, by source length, and draws attention
    maps.
    """

    def evaluate(self, predictor: TranslationPredictor, split: str) -> Evaluation:
        items = self._items(split)
        texts = [item.text for item in items]
        languages = [item.language for item in items] if self.recipe.data.language else []
        sources = self.codec.encode_texts(texts, languages)
        best = [hypotheses[0] for hypotheses in predictor.generate(sources)]
        outputs = [
            predictor.detokenize(hypothesis, text, source).text
            for hypothesis, text, source in zip(best, texts, sources, strict=True)
        ]
        evaluation = score_outputs(
            self.recipe,
            split,
            items,
            outputs,
            baseline=texts,
            baseline_name=BASELINE,
            source_lengths=[len(source) for source in sources],
        )
        maps = [
            predictor.attention_example(source, hypothesis)
            for source, hypothesis in zip(sources[:MAX_MAPS], best, strict=False)
        ]
        evaluation.sections.append(
            AttentionMaps([example for example in maps if example and _is_readable(example)])
        )
        return evaluation

    def _items(self, split: str) -> list[EvaluationItem]:
        return collect_pair_items(self.recipe, self.splits[split].rows)

    def show_items(self, split: str, numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
        return show_numbered(self._items(split), numbers) if numbers else {}

    def input_lengths(self, split: str) -> tuple[str, Float[np.ndarray, " items"]]:
        """Return the lengths in words, or in characters if those are the tokens."""
        texts = [item.text for item in self._items(split)]
        if self.recipe.tokens.kind in CHARACTER_KINDS:
            return "characters", np.array([len(text) for text in texts], np.float64)
        return "words", np.array([len(text.split()) for text in texts], np.float64)


def _is_readable(example: AttentionExample) -> bool:
    return max(len(example.read), len(example.written)) <= MAX_MAP_TOKENS
