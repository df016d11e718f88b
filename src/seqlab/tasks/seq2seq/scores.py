"""Scores for generated targets, chosen by the kind of target, with a baseline."""

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
"""Number of examples with their outputs in a report."""
CHARACTER_KINDS = ("characters", "bytes")
MIN_SENTENCE_WORDS = 6
"""Minimum mean number of words for targets to count as sentences, even if their tokens are characters."""


@dataclass(frozen=True)
class EvaluationItem:
    """A source with all of its reference targets."""

    where: str
    text: str
    language: str
    references: list[str]


def show_numbered(items: Sequence[EvaluationItem], numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
    """Return the locations and sources of some items."""
    chosen = {number: items[number] for number in sorted(numbers) if number < len(items)}
    return {number: (item.where, item.text) for number, item in chosen.items()}


def format_sample(source: str, output: str, reference: str) -> str:
    """Format a source with the generated output, for the journal."""
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
    """Score the output for every item, compared with a baseline if there is one, and by source length if
    lengths are given.
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
    """Choose scores by the kind of target; the first one ranks models. Phonemes get error rates, words and
    dates generated character by character exact match, and sentences overlap scores such as BLEU.
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
    if target_kind == "words":  # these cannot generate "end ." instead of "end.", so spacing does not count
        outputs = [_with_standard_spacing(output) for output in outputs]
        references = [[_with_standard_spacing(reference) for reference in texts] for texts in references]
        scores["ter"] = sentence_score("ter", outputs, references)
    by_character = [character_error_rate(outputs, references)] if target_kind in CHARACTER_KINDS else []
    return [*scores.values(), exact_match(outputs, references), *by_character]


def _are_sentences(references: Sequence[Sequence[str]]) -> bool:
    """Whether targets have enough words to be partly correct."""
    num_words = mean(len(reference.split()) for texts in references for reference in texts)
    return num_words >= MIN_SENTENCE_WORDS


def _with_standard_spacing(text: str) -> str:
    """Normalize whitespace to what `Words` would generate."""
    return join_words(Words.words_of(text))
