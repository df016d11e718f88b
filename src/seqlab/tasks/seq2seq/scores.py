"""How good translations are: which scores fit what is written, beside the source copied as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

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
from seqlab.sources.base import Source
from seqlab.sources.columns import text_of
from seqlab.sources.formats.tmx import speaks
from seqlab.tasks.base import Evaluation, shown
from seqlab.tasks.sections import sliced_scores
from seqlab.tasks.translation.tokens import language_of
from seqlab.tokens.words import Words, join_words

MOST_SHOWN = 20
COPY = "the source as it stands"
LETTERS = ("characters", "bytes")
SENTENCE = 6
"""Words of a target, on average, from which on it is a sentence, also where it is written letter by
letter.
"""


@dataclass(frozen=True)
class Question:
    """A source with all targets that the data lists for it."""

    where: str
    text: str
    language: str
    references: list[str]


@dataclass(frozen=True)
class Translated:
    """What was written for a source of so many tokens."""

    text: str
    source_length: int


def gathered(recipe: Recipe, rows: Source) -> list[Question]:
    """Every source once, in the order of the data, with its different targets."""
    found: dict[tuple[str, str], Question] = {}
    for row in rows.rows():
        text, target = text_of(row, recipe.data.source), text_of(row, recipe.data.target)
        language = "".join(language_of(row, recipe.data.language))
        question = found.setdefault((text, language), Question(row.where, text, language, []))
        if target not in question.references:
            question.references.append(target)
    return list(found.values())


def score_written(
    recipe: Recipe,
    split: str,
    questions: Sequence[Question],
    outputs: Sequence[str],
    *,
    baseline: Sequence[str],
    baseline_name: str,
    lengths: Sequence[int] = (),
) -> Evaluation:
    """What was written for every question, rated beside what costs nothing to write; by the lengths of the
    sources, where they differ.
    """
    references = [question.references for question in questions]
    rated = draft_scores(recipe, outputs, references)
    without = {each.name: each.items.full_score() for each in draft_scores(recipe, baseline, references)}
    scores = [each.score(baseline=without[each.name], baseline_name=baseline_name) for each in rated]
    parts = (
        slice_by_length(rated[0].items, np.array(lengths, np.float64), score=rated[0].name) if lengths else []
    )
    sections = [
        Facts({"signatures": {each.name: each.method for each in rated}}),
        sliced_scores(parts, scores),
        Translations(
            [
                _shown(question, output)
                for question, output in zip(questions[:MOST_SHOWN], outputs, strict=False)
            ]
        ),
    ]
    return Evaluation(
        split,
        scores,
        sections,
        items_by_name(rated),
        answers=[(output,) for output in outputs],
        truths=[tuple(each) for each in references],
    )


def _shown(question: Question, output: str) -> TranslationExample:
    return TranslationExample(
        question.where,
        shown(question.text),
        shown(output),
        [shown(reference) for reference in question.references],
    )


def draft_scores(
    recipe: Recipe, outputs: Sequence[str], references: Sequence[Sequence[str]]
) -> list[DraftScore]:
    """The scores that fit, the first of which decides between models: sounds have error rates, words and
    dates that are written letter by letter are right or wrong, and sentences are compared by their parts.
    """
    tokens = recipe.tokens
    written = tokens.target_kind or tokens.kind
    if tokens.kind in LETTERS and written == "whitespace":
        sounds = pronunciation_scores(
            [one.split() for one in outputs], [[one.split() for one in several] for several in references]
        )
        return [*sounds, exact_match(outputs, references)]
    if written in LETTERS and not _are_sentences(references):
        return [exact_match(outputs, references), character_error_rate(outputs, references)]
    found = {
        each.name: each
        for each in translation_scores(outputs, references, in_english=speaks(recipe.data.target, "en"))
    }
    if written == "words":  # which cannot write "end ." where they write "end.": blanks alone are no mistake
        outputs, references = (
            [_typed(one) for one in outputs],
            [[_typed(one) for one in several] for several in references],
        )
        found["ter"] = sentence_score("ter", outputs, references)
    letters = [character_error_rate(outputs, references)] if written in LETTERS else []
    return [*found.values(), exact_match(outputs, references), *letters]


def _are_sentences(references: Sequence[Sequence[str]]) -> bool:
    """Whether targets have so many words that some may be right where others are wrong."""
    return mean(len(one.split()) for several in references for one in several) >= SENTENCE


def _typed(text: str) -> str:
    """With blanks where `Words` sets them."""
    return join_words(Words.words_of(text))
