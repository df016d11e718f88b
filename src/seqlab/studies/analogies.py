"""Is uncle to aunt as man is to woman? Word vectors from counts, and arithmetic with their differences."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

from seqlab.baselines.counted_vectors import CountVectorSettings, fit_count_vectors
from seqlab.core.seeds import derive
from seqlab.inspection.analogies import AnalogyMethod, AnalogyQuestion, offset_similarity, score_analogies
from seqlab.inspection.embedding_map import build_embedding_map
from seqlab.pages.charts.embedding_map import EmbeddingMap, draw_embedding_map
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.tokens.word_vectors import WordVectors

FAMILIES = {
    "person": (("man", "woman"), ("men", "women"), ("garden", "dog")),
    "kin": (("uncle", "aunt"), ("uncles", "aunts"), ("nephew", "visitor")),
    "king": (("king", "queen"), ("kings", "queens"), ("throne", "crown")),
    "prince": (("prince", "princess"), ("princes", "princesses"), ("tutor", "pony")),
    "actor": (("actor", "actress"), ("actors", "actresses"), ("stage", "role")),
    "sibling": (("brother", "sister"), ("brothers", "sisters"), ("toy", "quarrel")),
}
"""A male and a female word, both in the plural, and the possessions of the family."""
HIS = ("beard", "moustache", "razor", "pipe", "tuxedo", "waistcoat", "cufflink", "necktie", "bowler", "cigar")
HERS = (
    "gown",
    "bonnet",
    "necklace",
    "petticoat",
    "earring",
    "bodice",
    "tiara",
    "corset",
    "brooch",
    "parasol",
)
"""Possessions of men only and of women only in this old-fashioned toy language."""
ONE, MANY = (
    ("this {} has a {} and a {}", "every {} has a {} and a {}"),
    ("these {} have a {} and a {}", "all {} have a {} and a {}"),
)
SENTENCES = 20_000
VECTOR_SETTINGS = CountVectorSettings(
    vector_size=16, window=7, context_smoothing=1.0, singular_value_power=1.0
)
"""As many dimensions as the toy language has distinctions, once for the nouns and once for their possessions;
the rest is noise.
"""
UNCLE_TO_AUNT, MAN_TO_WOMAN = ("uncle", "aunt"), ("man", "woman")
METHODS: tuple[AnalogyMethod, ...] = ("add", "multiply")
CAVEATS = (
    (
        "The words of a question are never accepted as its answer. `nearest to c` ignores a and b: the score"
        " without any vector arithmetic."
    ),
    (
        "The toy language, the dimensions and the count weights were chosen (on seeds 0 and 1) so that the"
        " effect appears: this shows what is possible."
    ),
    "With the weights that seqlab words --learn uses, 16 dimensions can lose the gender completely.",
    (
        "Real text is less regular; docs/guides/embeddings.md has the standard questions on two million words"
        " of Wikipedia."
    ),
)


def generate_sentences(count: int, seed: int) -> list[list[str]]:
    """Sentences such as `these queens have a crown and a gown`: the possessions indicate family and
    gender, the verb the number.
    """
    rng = random.Random(derive(seed, "analogies"))  # noqa: S311 (not for secrets)
    drawn = []
    for _ in range(count):
        singular, plural, things = FAMILIES[rng.choice(list(FAMILIES))]
        gender, is_plural = rng.randrange(2), rng.random() < 0.5
        noun = (plural if is_plural else singular)[gender]
        possessions = [rng.choice(things), rng.choice((HIS, HERS)[gender])]
        rng.shuffle(possessions)
        drawn.append(rng.choice(MANY if is_plural else ONE).format(noun, *possessions).split())
    return drawn


def analogy_questions() -> list[AnalogyQuestion]:
    """Questions for every ordered pair of families: change of gender, of number, or of both."""
    all_questions = []
    for first, second in permutations(FAMILIES.values(), 2):
        all_questions.append(
            AnalogyQuestion("gender", (first[0][0], first[0][1], second[0][0], second[0][1]))
        )
        all_questions.append(
            AnalogyQuestion("gender, plural", (first[1][0], first[1][1], second[1][0], second[1][1]))
        )
        all_questions += [
            AnalogyQuestion(
                "gender and number", (first[0][g], first[1][1 - g], second[0][g], second[1][1 - g])
            )
            for g in range(2)
        ]
        all_questions += [
            AnalogyQuestion("number", (first[0][g], first[1][g], second[0][g], second[1][g]))
            for g in range(2)
        ]
    return all_questions


@studies.register("analogies")
def analogies(*, seed: int, quick: bool) -> Finding:
    """A toy corpus about six families: does b − a + c answer all analogy questions?"""
    num_sentences = 3_000 if quick else SENTENCES
    table = fit_count_vectors(generate_sentences(num_sentences, seed), VECTOR_SETTINGS)
    rows = _score_methods(table)
    cosine = offset_similarity(table, UNCLE_TO_AUNT, MAN_TO_WOMAN)
    across = offset_similarity(table, UNCLE_TO_AUNT, ("man", "men"))
    correct = sum(float(row["right"]) * int(row["asked"]) for row in rows)
    right = correct / sum(int(row["asked"]) for row in rows)
    hard = min(float(row["right"]) for row in rows if row["nearest to c"] == 0 and row["method"] == "add")
    return Finding(
        claim="Differences between word vectors carry meaning: E(aunt) − E(uncle) ≈ E(woman) − E(man).",
        conclusion=(
            f"The cosine of aunt − uncle and woman − man is {cosine:.3f}; that of aunt − uncle and men −"
            f" man is {across:.3f}. The vectors answer {right:.0%} of all questions correctly, and"
            f" {hard:.0%} of those where the nearest word is never the answer."
        ),
        rows=rows,
        curves=[_learning_curve(num_sentences, seed)],
        figures=[
            draw_embedding_map(embedding_map, ident=f"words-{figure_number}")
            for figure_number, embedding_map in enumerate(parallelograms(table), start=1)
        ],
        notes=[
            f"{num_sentences:,} sentences such as “{' '.join(generate_sentences(1, seed)[0])}”.",
            (
                f"Word pairs are counted within {VECTOR_SETTINGS.window} words; their PPMI matrix is"
                f" factorized into {table.width} dimensions."
            ),
            *CAVEATS,
        ],
    )


def _score_methods(table: WordVectors) -> list[dict[str, Value]]:
    """One row per method and kind of question."""
    return [
        {
            "questions": score.section,
            "method": method,
            "asked": score.covered,
            "right": score.accuracy,
            "nearest to c": score.baseline,
        }
        for method in METHODS
        for score in score_analogies(table, analogy_questions(), method=method)
    ]


def _learning_curve(num_sentences: int, seed: int) -> LineChart:
    """The accuracy of each kind of question by the number of sentences that are counted."""
    sizes = [size for size in (100, 300, 1_000, 3_000, 10_000, 20_000) if size <= num_sentences]
    scores_by_size = [
        score_analogies(
            fit_count_vectors(generate_sentences(size, seed), VECTOR_SETTINGS), analogy_questions()
        )
        for size in sizes
    ]
    series = [
        LineSeries(scores[0].section, sizes, [score.accuracy for score in scores])
        for scores in zip(*scores_by_size, strict=True)
    ]
    return LineChart("Accuracy vs. amount of text", "sentences", "accuracy", series)


def parallelograms(table: WordVectors) -> tuple[EmbeddingMap, EmbeddingMap]:
    """Two families in the plane: arrows from the male word to the female one, and from one to many."""
    genders = build_embedding_map(
        table, pairs=[MAN_TO_WOMAN, UNCLE_TO_AUNT], title="From male to female words"
    )
    numbers = build_embedding_map(
        table, pairs=[("man", "men"), ("uncle", "uncles")], title="From singular to plural"
    )
    return replace(genders, width=460.0, height=340.0), replace(numbers, width=460.0, height=340.0)
