"""Tags that mark spans: what the task says of broken rules, and how it scores, answers and chooses by
spans.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from seqeval.metrics import f1_score, precision_score, recall_score

from seqlab.metrics.spans import BIO, SCHEMES, TaggingScheme, compare_spans
from seqlab.tasks.tagging.span_scores import SpanRules, span_items
from seqlab.tasks.tagging.tagged_sentence import MarkedSpan, TaggedSentence
from tests.tasks.test_tagging import make

TRAIN = [
    [("Ada", "B-PER"), ("Lovelace", "I-PER"), ("lives", "O")],
    [("in", "O"), ("New", "B-LOC"), ("York", "I-LOC"), (".", "O")],
    [("Ada", "B-PER"), ("Bob", "B-PER"), ("walk", "O")],
]
TEST = [
    [("Bob", "B-PER"), ("Lovelace", "I-PER"), ("lives", "O")],
    [("New", "B-LOC"), ("York", "I-LOC"), ("lives", "O")],
    [("in", "O")],
]


def rules(*sentences: list[str], scheme: TaggingScheme = BIO) -> SpanRules:
    found = SpanRules(scheme)
    for number, tags in enumerate(sentences, start=1):
        found.look(tags, where=f"f, line {number}")
    return found


def test_tags_that_keep_the_rules_need_no_word() -> None:
    assert rules(["O", "B-X", "I-X", "B-X", "B-Y", "I-Y", "O"]).sentence() == ""


@pytest.mark.spec(11)
def test_broken_rules_are_counted_and_the_first_are_placed() -> None:
    found = rules(["B-X", "I-X"], ["I-X", "O", "I-Y"], ["B-X", "I-Y"], ["O", "I-X"])
    assert found.faults == 4
    assert found.sentence().startswith("4 tags I-X ")
    assert found.sentence().endswith(
        "first: f, line 2, word 1: I-X after the beginning; f, line 2, word 3: I-Y after O; f, line 3,"
        " word 2: I-Y after B-X"
    )


@pytest.mark.spec(11)
def test_spans_that_are_not_ended_are_told_where_ends_are_marked() -> None:
    _, iobes, bilou = SCHEMES
    assert rules(["S-X", "B-X", "I-X", "E-X", "B-Y", "E-Y", "S-X", "S-X", "O"], scheme=iobes).sentence() == ""
    assert rules(["U-X", "B-X", "L-X"], scheme=bilou).sentence() == ""
    found = rules(["O", "E-X"], ["B-X", "O", "B-X", "I-Y", "E-Y"], scheme=iobes)
    assert found.faults == 4
    assert found.sentence().startswith("4 tags violate IOBES")
    assert "B-X, I-X …, E-X, or S-X alone" in found.sentence()
    assert found.sentence().endswith(
        "first: f, line 1, word 2: E-X after O; f, line 2, word 4: I-Y after B-X; f, line 2, word 1: B-X"
        " before O"
    )
    assert "B-X, I-X …, L-X, or U-X alone" in rules(["B-X"], scheme=bilou).sentence()


def test_the_older_way_of_marking_is_recognised() -> None:
    found = rules(["I-X", "I-X", "O", "I-Y"], ["I-X", "B-X", "I-X"])
    assert found.sentence().startswith("the tags are IOB1, as in CoNLL-2003: 3 spans begin with I")


def test_spans_are_scored_first_and_beside_those_of_the_naive_tagger(tmp_path: Path) -> None:
    task = make(tmp_path, train=TRAIN, test=TEST)
    model = task.build_model().eval()
    evaluation = task.evaluate(model, "test")
    truth = [[tag for _, tag in sentence] for sentence in TEST]
    predicted = [
        list(task.predictor(model).predict([[word for word, _ in sentence]], top=1)[0].tags)
        for sentence in TEST
    ]  # type: ignore[attr-defined] # tagged
    first = evaluation.scores[0]
    assert (first.name, first.value) == ("span_f1", pytest.approx(f1_score(truth, predicted)))
    naive = [["B-PER", "I-PER", "O"], ["B-LOC", "I-LOC", "O"], ["O"]]
    assert first.baseline == pytest.approx(f1_score(truth, naive))
    assert [score.name for score in evaluation.scores[:3]] == ["span_f1", "span_precision", "span_recall"]
    assert {line["label"] for line in evaluation.sections_as_json()["per_span_type"]["classes"]} >= {
        "PER",
        "LOC",
    }
    validation = task.objective().validate(model)
    assert validation.value == validation.facts["valid_span_f1"] == pytest.approx(first.value)
    assert set(evaluation.items) >= {score.name for score in evaluation.scores[3:]}


def test_the_items_are_all_sentences_whatever_a_model_marks() -> None:
    """Two models are compared sentence by sentence, and one that marks nothing must not drop out."""
    truth = [["B-X", "O"], ["O"], ["O", "O"], ["B-X"]]
    several = [
        [["B-X", "O"], ["B-X"], ["O", "O"], ["B-X"]],
        [["B-X", "O"], ["O"], ["B-X", "O"], ["O"]],
        [["O", "O"], ["O"], ["O", "O"], ["O"]],
    ]
    for predicted in several:
        found = span_items(compare_spans(truth, predicted))
        expected = {"span_f1": f1_score, "span_precision": precision_score, "span_recall": recall_score}
        assert {name: items.num_items for name, items in found.items()} == dict.fromkeys(expected, 4)
        assert {name: items.full_score() for name, items in found.items()} == pytest.approx(
            {name: score(truth, predicted, zero_division=0) for name, score in expected.items()}
        )


def test_the_scores_say_which_scheme_was_read(tmp_path: Path) -> None:
    single = {"Ada": "S-PER", "Bob": "S-PER", "New": "B-LOC", "York": "E-LOC", "Lovelace": "E-PER"}
    ended = [[(word, single.get(word, tag)) for word, tag in sentence] for sentence in TRAIN[1:]]
    task = make(tmp_path, train=ended, test=ended)
    evaluation = task.evaluate(task.build_model().eval(), "test")
    assert "tags read as IOBES;" in evaluation.scores[0].method
    assert evaluation.sections_as_json()["spans"]["scheme"] == "IOBES"
    assert task.notes == []


def test_answers_have_spans(tmp_path: Path) -> None:
    task = make(tmp_path, train=TRAIN, test=TEST)
    found, empty = task.predictor(task.build_model().eval()).predict([["New", "York", "walk"], []], top=1)
    assert isinstance(found, TaggedSentence)
    assert isinstance(empty, TaggedSentence)
    assert empty.spans == ()
    assert found.spans is not None
    assert all(
        isinstance(span, MarkedSpan) and span.text == " ".join(found.words[span.first - 1 : span.last])
        for span in found.spans
    )


def test_broken_rules_in_a_file_are_told_with_its_lines(tmp_path: Path) -> None:
    task = make(tmp_path, train=[*TRAIN, [("Bob", "O"), ("York", "I-LOC")]], test=TEST)
    (note,) = task.notes
    assert note.startswith("train: 1 tags I-X ")
    assert note.endswith("train.tsv, line 14, word 2: I-LOC after O")
