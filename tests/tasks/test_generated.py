"""Generated sequences: prefixes, distinct texts and their log-probabilities; and the score of a given target."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from seqlab.core.errors import UsageError
from seqlab.decoding.forced_scoring import score_targets
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.tasks.seq2seq.generated_sequence import GeneratedSequence, TextHypothesis
from tests.tasks.test_translation import make

SENTENCES = [("the cat", "die Katze"), ("the dog", "der Hund")] * 4


def test_every_text_is_answered_once_with_log_p_and_the_score_of_its_rank() -> None:
    hypotheses = [
        TextHypothesis(text, log_prob, Hypothesis([], [], log_prob / 2, True))
        for text, log_prob in (("a", -800.0), ("b", -801.0), ("a", -802.0), ("c", -9.0))
    ]
    prediction = GeneratedSequence.from_hypotheses("question", hypotheses, top=2)
    assert [(one.text, one.log_prob, one.score) for one in prediction.hypotheses] == [
        ("a", -800.0, -400.0),
        ("b", -801.0, -400.5),
    ]
    assert (prediction.answer, prediction.probability) == ("a", math.exp(-800))
    assert prediction.ranking == [("a", 0.0), ("b", 0.0)]
    assert "<td>-800.0000</td><td>-400.0000</td>" in prediction._repr_html_()


def test_lines_and_json_of_a_generated_sequence_have_log_p_and_after_a_beam_the_score() -> None:
    hypotheses = [
        TextHypothesis(text, log_prob, Hypothesis([], [], log_prob / 2, ended))
        for text, log_prob, ended in (("a\nb", -1.5, True), ("c", -3.0, False))
    ]
    sampled, ranked = (
        GeneratedSequence.from_hypotheses("the\tsource", hypotheses, top=2, is_ranked_by_score=is_ranked)
        for is_ranked in (False, True)
    )
    assert sampled.to_line() == "a b\t-1.5000\tthe source"
    assert ranked.to_line() == "a b\t-1.5000\tthe source\t-0.7500"
    assert [line.split() for line in sampled.to_lines()] == [
        ["the", "source"],
        ["log", "P"],
        ["-1.5000", "a", "b"],
        ["-3.0000", "c"],
    ]
    assert [line.split() for line in ranked.to_lines()[1:]] == [
        ["log", "P", "score"],
        ["-1.5000", "-0.7500", "a", "b"],
        ["-3.0000", "-1.5000", "c"],
    ]
    first, second = (
        {
            "text": text,
            "probability": math.exp(log_prob),
            "log_prob": log_prob,
            "score": score,
            "ended": ended,
        }
        for text, log_prob, score, ended in (("a\nb", -1.5, -0.75, True), ("c", -3.0, -1.5, False))
    )
    assert ranked.to_json() == {
        "input": "the\tsource",
        "answer": "a\nb",
        "probability": math.exp(-1.5),
        "ranking": [("a\nb", math.exp(-1.5)), ("c", math.exp(-3.0))],
        "log_prob": -1.5,
        "score": -0.75,
        "ended": True,
        "answers": [first, second],
    }


def test_a_word_that_no_target_has_is_no_prefix(tmp_path: Path) -> None:
    task = make(
        tmp_path,
        SENTENCES,
        tokens={"kind": "whitespace"},
        decoding={"prefix": "der Zyxxy Hund quux", "max_tokens": 6},
    )
    with pytest.raises(UsageError) as caught:
        task.predictor(task.build_model().eval())
    assert "decoding.prefix: 'Zyxxy', 'quux'" in str(caught.value)
    letters = make(tmp_path, decoding={"prefix": "B?", "max_tokens": 6})
    with pytest.raises(UsageError, match=r"prefix: 'B\?'"):
        letters.predictor(letters.build_model().eval())


def test_the_choice_by_risk_does_not_depend_on_how_many_answers_are_shown(tmp_path: Path) -> None:
    task = make(tmp_path, decoding={"beam": 5, "choose_by": "risk", "max_tokens": 6})
    predictor = task.predictor(task.build_model().eval())
    texts = ["abc", "cab", "b", "bca"]
    one, several = (predictor.predict(texts, top=top) for top in (1, 5))
    assert [prediction.answer for prediction in one] == [prediction.answer for prediction in several]
    assert [len(prediction.hypotheses) for prediction in one] == [1] * 4
    assert [len(prediction.hypotheses) for prediction in several] == [5] * 4


def test_given_targets_have_the_probability_of_forced_scoring(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = task.build_model().eval()
    pairs = [("abc", "CBA"), ("ab", ""), ("ab", "B?")]
    expected = score_targets(
        model, [torch.from_numpy(task.codec.tokens.encode_sources([source])[0]).long() for source, _ in pairs],
        [task.codec.tokens.encode_targets([target])[0][1:-1].tolist() for _, target in pairs], task.codec.tokens.special_tokens
    )  # fmt: skip
    scores = task.predictor(model).score(pairs)
    for score, forced, pair in zip(scores, expected, pairs, strict=True):
        assert (score.source, score.text) == pair
        assert [token.log_prob for token in score.tokens] == forced.token_log_probs
        assert score.log_prob == pytest.approx(forced.log_prob)
    assert [token.token for token in scores[0].tokens] == ["C", "B", "A", "<eos>"]
    assert [score.num_unknown for score in scores] == [0, 0, 1]
    assert scores[1].as_json()["tokens"][0]["log_prob"] == scores[1].log_prob
