"""What pairs answer: with which beginning, which texts, how probable; and the probability of targets that are
given.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from seqlab.core.errors import UsageError
from seqlab.decoding.forced_scoring import score_targets
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.tasks.seq2seq.generated import Answer, Written
from tests.tasks.test_translation import make

SENTENCES = [("the cat", "die Katze"), ("the dog", "der Hund")] * 4


def test_every_text_is_answered_once_with_log_p_and_the_score_of_its_rank() -> None:
    answers = [
        Answer(text, log_prob, Hypothesis([], [], log_prob / 2, True))
        for text, log_prob in (("a", -800.0), ("b", -801.0), ("a", -802.0), ("c", -9.0))
    ]
    found = Written.of("question", answers, top=2)
    assert [(one.text, one.log_prob, one.score) for one in found.answers] == [
        ("a", -800.0, -400.0),
        ("b", -801.0, -400.5),
    ]
    assert (found.answer, found.probability, found.ranking) == ("a", math.exp(-800), [("a", 0.0), ("b", 0.0)])
    assert "<td>-800.0000</td><td>-400.0000</td>" in found._repr_html_()


def test_a_word_that_no_target_has_is_no_prefix(tmp_path: Path) -> None:
    task = make(
        tmp_path,
        SENTENCES,
        tokens={"kind": "whitespace"},
        decoding={"prefix": "der Zyxxy Hund quux", "max_tokens": 6},
    )
    with pytest.raises(UsageError) as caught:
        task.predict(task.build_model().eval(), ["the dog"], top=1)
    assert "decoding.prefix: the model does not know 'Zyxxy', 'quux', and so cannot write it." in str(
        caught.value
    )
    letters = make(tmp_path, decoding={"prefix": "B?", "max_tokens": 6})
    with pytest.raises(UsageError, match=r"does not know 'B\?'"):
        letters.predict(letters.build_model().eval(), ["ab"], top=1)


def test_the_choice_by_risk_does_not_depend_on_how_many_answers_are_shown(tmp_path: Path) -> None:
    task = make(tmp_path, decoding={"beam": 5, "choose_by": "risk", "max_tokens": 6})
    model = task.build_model().eval()
    texts = ["abc", "cab", "b", "bca"]
    one, several = (task.predict(model, texts, top=top) for top in (1, 5))
    assert [found.answer for found in one] == [found.answer for found in several]
    assert [len(found.answers) for found in one] == [1] * 4
    assert [len(found.answers) for found in several] == [5] * 4


def test_given_targets_have_the_probability_of_forced_scoring(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = task.build_model().eval()
    pairs = [("abc", "CBA"), ("ab", ""), ("ab", "B?")]
    expected = score_targets(
        model, [torch.from_numpy(task.tokens.read([source])[0]).long() for source, _ in pairs],
        [task.tokens.write([target])[0][1:-1].tolist() for _, target in pairs], task.tokens.special_tokens
    )  # fmt: skip
    found = task.score(model, pairs)
    for score, forced, pair in zip(found, expected, pairs, strict=True):
        assert (score.source, score.text) == pair
        assert [token.log_prob for token in score.tokens] == forced.token_log_probs
        assert score.log_prob == pytest.approx(forced.log_prob)
    assert [token.token for token in found[0].tokens] == ["C", "B", "A", "<eos>"]
    assert [score.num_unknown for score in found] == [0, 0, 1]
    assert found[1].as_json()["tokens"][0]["log_prob"] == found[1].log_prob
