"""Scores of generated targets: those that fit what is generated, beside a baseline."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np

from seqlab.metrics.draft_score import DraftScore, items_by_name
from seqlab.metrics.edit_distance import character_error_rate, exact_match
from seqlab.metrics.pronunciation_scores import pronunciation_scores
from seqlab.metrics.slices import slice_by_length
from seqlab.metrics.translation_scores import sacrebleu_score as sentence_score
from seqlab.metrics.translation_scores import translation_scores
from seqlab.pages.sections.facts import Facts
from seqlab.pages.sections.translations import TranslationExample, Translations
from seqlab.recipes.recipe import Recipe
from seqlab.sources.formats.tmx import matches_language
from seqlab.tasks.evaluation import Evaluation, sliced_scores
from seqlab.tasks.excerpt import excerpt
from seqlab.tokens.words import Words, join_words

MAX_EXAMPLES = 20
"""Items of a report that are shown with their output."""
CHARACTER_KINDS = ("characters", "bytes")
MIN_SENTENCE_WORDS = 6
"""From this mean number of words on, targets are sentences, even if their tokens are characters."""


@dataclass(frozen=True)
class EvaluationItem:
    """A source with all targets that the data has for it."""

    where: str
    text: str
    language: str
    references: list[str]


def show_numbered(items: Sequence[EvaluationItem], numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
    """Where some items are in the data, and their sources."""
    chosen = {number: items[number] for number in sorted(numbers) if number < len(items)}
    return {number: (item.where, item.text) for number, item in chosen.items()}


def format_sample(source: str, output: str, reference: str) -> str:
    """A source with what the model generates for it, for the journal."""
    return f"{source}\n→ {output}\n(reference: {reference})"


def score_outputs(
    recipe: Recipe,
    split: str,
    items: Sequence[EvaluationItem],
    outputs: Sequence[str],
    *,
    baseline: Sequence[str] | None,
    baseline_name: str,
    source_lengths: Sequence[int] = (),
) -> Evaluation:
    """Scores of the output for every item beside those of a baseline, where there is one; also by source
    length, where lengths are given.
    """
    references = [item.references for item in items]
    drafts = draft_scores(recipe, outputs, references)
    baseline_drafts = [] if baseline is None else draft_scores(recipe, baseline, references)
    baseline_items = items_by_name(baseline_drafts)
    scores = [
        draft.score(baseline=baseline_items.get(draft.name), baseline_name=baseline_name) for draft in drafts
    ]
    lengths = np.array(source_lengths, np.float64)
    slices = slice_by_length(drafts[0].items, lengths, score=drafts[0].name) if source_lengths else []
    examples = [_example(item, output) for item, output in zip(items[:MAX_EXAMPLES], outputs, strict=False)]
    return Evaluation(
        split,
        scores,
        [
            Facts({"signatures": {draft.name: draft.method for draft in drafts}}),
            sliced_scores(slices, scores),
            Translations(examples),
        ],
        items_by_name(drafts),
        answers=[(output,) for output in outputs],
        truths=[tuple(texts) for texts in references],
    )


def _example(item: EvaluationItem, output: str) -> TranslationExample:
    references = [excerpt(reference) for reference in item.references]
    return TranslationExample(item.where, excerpt(item.text), excerpt(output), references)


def draft_scores(
    recipe: Recipe, outputs: Sequence[str], references: Sequence[Sequence[str]]
) -> list[DraftScore]:
    """The scores that fit; the first one ranks models. Phonemes have error rates, words and dates generated
    character by character are right or wrong, and sentences are compared by their parts.
    """
    tokens = recipe.tokens
    target_kind = tokens.target_kind or tokens.kind
    if tokens.kind in CHARACTER_KINDS and target_kind == "whitespace":
        phonemes = pronunciation_scores(
            [output.split() for output in outputs],
            [[reference.split() for reference in texts] for texts in references],
        )
        return [*phonemes, exact_match(outputs, references)]
    if target_kind in CHARACTER_KINDS and not _are_sentences(references):
        return [exact_match(outputs, references), character_error_rate(outputs, references)]
    in_english = matches_language(recipe.data.target, "en")
    scores = {draft.name: draft for draft in translation_scores(outputs, references, in_english=in_english)}
    if target_kind == "words":  # these cannot generate "end ." instead of "end.": spacing is not a mistake
        outputs = [_with_standard_spacing(output) for output in outputs]
        references = [[_with_standard_spacing(reference) for reference in texts] for texts in references]
        scores["ter"] = sentence_score("ter", outputs, references)
    by_character = [character_error_rate(outputs, references)] if target_kind in CHARACTER_KINDS else []
    return [*scores.values(), exact_match(outputs, references), *by_character]


def _are_sentences(references: Sequence[Sequence[str]]) -> bool:
    """Whether targets have so many words that some may be right where others are wrong."""
    num_words = mean(len(reference.split()) for texts in references for reference in texts)
    return num_words >= MIN_SENTENCE_WORDS


def _with_standard_spacing(text: str) -> str:
    """With the whitespace that `Words` would generate."""
    return join_words(Words.words_of(text))
