"""Spans and their scores as seqeval computes them."""

from __future__ import annotations

import random
import warnings

import pytest
from seqeval.metrics import classification_report, f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import BILOU, IOB2, IOBES, Entities

from seqlab.metrics.spans import compare_spans, detect_scheme, extract_spans, extract_strict_spans

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]
ENDED = ["O", *(f"{mark}-{kind}" for mark in "BIES" for kind in ("PER", "LOC"))]
OTHER_LETTERS = str.maketrans("ES", "LU")


def sentences(seed: int, *, count: int = 60, tags: list[str] = TAGS) -> list[list[str]]:
    chance = random.Random(seed)
    weights = [3, 2, 2, *[1] * (len(tags) - 3)]
    return [
        chance.choices(tags, weights=weights, k=length)
        for length in [chance.randint(1, 9) for _ in range(count)]
    ]


def in_bilou(tags: list[str]) -> list[str]:
    return [tag[:1].translate(OTHER_LETTERS) + tag[1:] for tag in tags]


@pytest.mark.spec(11)
def test_spans_are_those_of_seqeval() -> None:
    tagged = sentences(1, count=300)
    assert [[tuple(span) for span in extract_spans(tags)] for tags in tagged] == [
        get_entities(tags) for tags in tagged
    ]
    strict = Entities(tagged, IOB2).entities
    assert [
        [(span.type, span.first, span.last + 1) for span in extract_strict_spans(tags)] for tags in tagged
    ] == [[(entity.tag, entity.start, entity.end) for entity in sentence] for sentence in strict]


@pytest.mark.spec(11)
@pytest.mark.parametrize("strict", [False, True])
def test_scores_are_those_of_seqeval(strict: bool) -> None:
    truth = sentences(2)
    chance = random.Random(4)
    predicted = [[tag if chance.random() < 0.7 else chance.choice(TAGS) for tag in tags] for tags in truth]
    options = {"mode": "strict", "scheme": IOB2} if strict else {}
    found = compare_spans(truth, predicted, read=extract_strict_spans if strict else extract_spans)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found.overall.f1 == pytest.approx(f1_score(truth, predicted, **options))
        assert found.overall.precision == pytest.approx(precision_score(truth, predicted, **options))
        assert found.overall.recall == pytest.approx(recall_score(truth, predicted, **options))
        report = classification_report(truth, predicted, output_dict=True, **options)
    for kind, each in found.by_type.items():
        wanted = report[kind]
        assert (each.precision, each.recall, each.f1, each.support) == pytest.approx(
            (wanted["precision"], wanted["recall"], wanted["f1-score"], wanted["support"])
        )
    assert found.by_sentence.sum(axis=0).tolist() == [
        found.overall.correct,
        found.overall.predicted,
        found.overall.support,
    ]


@pytest.mark.spec(11)
def test_spans_with_marked_ends_are_those_of_seqeval() -> None:
    tagged = sentences(5, count=200, tags=ENDED)
    bilou = [in_bilou(tags) for tags in tagged]
    assert [[tuple(span) for span in extract_spans(tags)] for tags in tagged] == [
        get_entities(tags) for tags in tagged
    ]
    assert [extract_spans(tags) for tags in bilou] == [extract_spans(tags) for tags in tagged]
    for sequences, name, scheme in ((tagged, "IOBES", IOBES), (bilou, "BILOU", BILOU)):
        found = detect_scheme(tag for tags in sequences for tag in tags)
        assert found is not None
        assert found.name == name
        assert [
            [(span.type, span.first, span.last + 1) for span in found.strict(tags)] for tags in sequences
        ] == [
            [(entity.tag, entity.start, entity.end) for entity in sentence]
            for sentence in Entities(sequences, scheme).entities
        ]
        changed = [[tags[0], *tags[:-1]] for tags in sequences]  # each tag one word later
        assert compare_spans(sequences, changed, read=found.strict).overall.f1 == pytest.approx(
            f1_score(sequences, changed, mode="strict", scheme=scheme)
        )


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O B-X I-X", "BIO"),
        ("O I-X", "BIO"),  # IOB1 of a file in which no spans touch
        ("B I O", "BIO"),
        ("O B-X I-X S-X", "IOBES"),
        ("O B-X E-X", "IOBES"),
        ("B I E S", "IOBES"),
        ("O U-X", "BILOU"),
        ("B I L O U", "BILOU"),
        ("O I-X E-X", None),  # nothing begins a span
        ("S O", None),  # subject and object, say
        ("O B-X I-X S-X L-X", None),
        ("B-X NOUN", None),
        ("O", None),
    ],
)
def test_the_scheme_is_told_by_its_letters(tags: str, expected: str | None) -> None:
    found = detect_scheme(tags.split())
    assert (found and found.name) == expected


def test_nothing_found_and_nothing_to_find_score_zero() -> None:
    nothing = compare_spans([["O", "O"]], [["O", "O"]])
    assert (nothing.overall.f1, nothing.overall.precision, nothing.overall.recall, nothing.by_type) == (
        0.0,
        0.0,
        0.0,
        {},
    )
    unnamed = compare_spans([["B", "I", "O"]], [["B", "O", "O"]])
    assert (unnamed.overall.support, list(unnamed.by_type)) == (1, ["_"])
