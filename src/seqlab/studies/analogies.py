"""Is uncle to aunt as man is to woman? Word vectors learned by counting, and the arithmetic of their differences."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

from seqlab.baselines.counted_vectors import Counting, count_vectors
from seqlab.core.seeds import derive
from seqlab.inspection.analogies import Question, parallel, score_questions
from seqlab.inspection.embedding_map import word_plane
from seqlab.pages.charts.embedding_map import WordPlane, draw_word_plane
from seqlab.pages.report_data import Curve, Series
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
"""Male and female word, both in the plural, and things that they have."""
HIS = ("beard", "moustache", "razor", "pipe", "tuxedo", "waistcoat", "cufflink", "necktie", "bowler", "cigar")
HERS = ("gown", "bonnet", "necklace", "petticoat", "earring", "bodice", "tiara", "corset", "brooch", "parasol")
"""What only men, or only women, have in this small old-fashioned world."""
ONE, MANY = ("this {} has a {} and a {}", "every {} has a {} and a {}"), ("these {} have a {} and a {}", "all {} have a {} and a {}")
SENTENCES = 20_000
COUNTING = Counting(width=16, window=7, smoothing=1.0, keep=1.0)
"""As many numbers as this world has things to tell apart, once for the nouns and once for what they have: the rest is noise."""
UNCLE_TO_AUNT, MAN_TO_WOMAN = ("uncle", "aunt"), ("man", "woman")


def sentences(count: int, seed: int) -> list[list[str]]:
    """Sentences such as `these queens have a crown and a gown`: what somebody has tells the family and the gender, the verb the number."""
    chance = random.Random(derive(seed, "analogies"))  # noqa: S311 (not for secrets)
    found = []
    for _ in range(count):
        one, many, things = FAMILIES[chance.choice(list(FAMILIES))]
        gender, is_plural = chance.randrange(2), chance.random() < 0.5
        noun = (many if is_plural else one)[gender]
        had = [chance.choice(things), chance.choice((HIS, HERS)[gender])]
        chance.shuffle(had)
        found.append(chance.choice(MANY if is_plural else ONE).format(noun, *had).split())
    return found


def questions() -> list[Question]:
    """Every ordered pair of families: another gender, another number, or both at once."""
    asked = []
    for one, other in permutations(FAMILIES.values(), 2):
        asked.append(Question("gender", (one[0][0], one[0][1], other[0][0], other[0][1])))
        asked.append(Question("gender, plural", (one[1][0], one[1][1], other[1][0], other[1][1])))
        asked += [Question("gender and number", (one[0][g], one[1][1 - g], other[0][g], other[1][1 - g])) for g in range(2)]
        asked += [Question("number", (one[0][g], one[1][g], other[0][g], other[1][g])) for g in range(2)]
    return asked


@studies.register("analogies")
def analogies(*, seed: int, quick: bool) -> Finding:
    """A small world of six families: are all questions about it answered by b − a + c?"""
    num_sentences = 3_000 if quick else SENTENCES
    table = count_vectors(sentences(num_sentences, seed), COUNTING)
    rows: list[dict[str, Value]] = []
    for method in ("add", "multiply"):
        for score in score_questions(table, questions(), method=method):
            rows.append(
                {"questions": score.section, "method": method, "asked": score.covered, "right": score.accuracy, "nearest to c": score.baseline}
            )
    sizes = [size for size in (100, 300, 1_000, 3_000, 10_000, 20_000) if size <= num_sentences]
    growing = [score_questions(count_vectors(sentences(size, seed), COUNTING), questions()) for size in sizes]
    cosine = parallel(table, UNCLE_TO_AUNT, MAN_TO_WOMAN)
    across = parallel(table, UNCLE_TO_AUNT, ("man", "men"))
    right = sum(float(row["right"]) * int(row["asked"]) for row in rows) / sum(int(row["asked"]) for row in rows)
    hard = min(float(row["right"]) for row in rows if row["nearest to c"] == 0 and row["method"] == "add")
    return Finding(
        claim="Differences of word vectors mean something: E(aunt) − E(uncle) ≈ E(woman) − E(man).",
        found=f"The cosine of aunt − uncle and woman − man is {cosine:.3f}, that of aunt − uncle and men − man {across:.3f}. "
        f"Of all questions {right:.0%} are answered right, and of those where the nearest word is never the answer {hard:.0%}.",
        rows=rows,
        curves=[
            Curve(
                "How much text it takes",
                "sentences",
                "answered right",
                [Series(score.section, sizes, [scores[place].accuracy for scores in growing]) for place, score in enumerate(growing[0])],
            )
        ],
        pictures=[draw_word_plane(picture, ident=f"words-{number}") for number, picture in enumerate(parallelograms(table), start=1)],
        notes=[
            f"{num_sentences:,} sentences such as “{' '.join(sentences(1, seed)[0])}”.",
            f"Pairs are counted within {COUNTING.window} words; their PPMI is decomposed to {table.width} numbers.",
            "The words of a question are never its answer. `nearest to c` ignores a and b: what such a score would be without any arithmetic.",
            "This world, and the width and weights of the counting, were chosen so that it comes out (seeds 0 and 1): it shows what is possible.",
            "With the weights that seqlab words --learn takes, 16 numbers can lose the gender altogether.",
            "Real text is less regular; docs/embeddings.md has the standard questions on two million words of Wikipedia.",
        ],
    )


def parallelograms(table: WordVectors) -> tuple[WordPlane, WordPlane]:
    """Two families in the plane: arrows from the male word to the female one, and from one to many."""
    genders = word_plane(table, pairs=[MAN_TO_WOMAN, UNCLE_TO_AUNT], title="From the male word to the female one")
    numbers = word_plane(table, pairs=[("man", "men"), ("uncle", "uncles")], title="From one to many")
    return replace(genders, wide=460.0, high=340.0), replace(numbers, wide=460.0, high=340.0)
