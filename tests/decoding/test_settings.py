"""Settings of a search: what they build, and what they refuse, by words."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import ValidationError

from seqlab.core.errors import ArgumentError, UsageError
from seqlab.core.settings import describe
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.build_search import build_search, select_n_best
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.length_normalization import GNMTLengthPenalty
from seqlab.decoding.settings import DecodingSettings, NoDecoding, SamplingSettings, SearchSettings
from seqlab.decoding.stepwise import StepwiseSearch
from seqlab.decoding.token_choice import Greedy, MultinomialSampler
from tests.decoding.tables_to_try import SYMBOLS

KINDS: tuple[Literal["open", "thorough", "shared"], ...] = ("open", "thorough", "shared")


def test_the_default_is_greedy_and_a_temperature_draws() -> None:
    greedy = build_search(SearchSettings(), SYMBOLS, vocabulary_size=9)
    assert isinstance(greedy, StepwiseSearch)
    assert isinstance(greedy.chooser, Greedy)
    drawn = build_search(SearchSettings(temperature=1.2, samples=5, min_p=0.1), SYMBOLS, vocabulary_size=9)
    assert isinstance(drawn, StepwiseSearch)
    assert isinstance(drawn.chooser, MultinomialSampler)
    assert (drawn.chooser.num_samples, drawn.chooser.min_p) == (5, 0.1)
    assert (SearchSettings().temperature, SamplingSettings().temperature) == (0.0, 0.8)


def test_hypotheses_that_end_leave_the_beam_unless_another_kind_is_asked_for() -> None:
    """With the others, finished hypotheses take a place: lower scores with a length penalty."""
    kinds = {
        kind: build_search(SearchSettings(beam=3, beam_kind=kind), SYMBOLS, vocabulary_size=9)
        for kind in KINDS
    }
    default = build_search(SearchSettings(beam=3), SYMBOLS, vocabulary_size=9)
    searches = {**kinds, "default": default}
    found = {
        kind: type(search.policy).__name__
        for kind, search in searches.items()
        if isinstance(search, BeamSearch)
    }
    assert found == {
        "open": "OpenBeam",
        "thorough": "ThoroughBeam",
        "shared": "SharedBeam",
        "default": "OpenBeam",
    }


def test_a_beam_gets_its_rules() -> None:
    settings = SearchSettings(
        beam=6,
        n_best=2,
        length_penalty_kind="gnmt",
        length_penalty=0.6,
        beam_groups=2,
        coverage_penalty=0.2,
        min_tokens=1,
        no_repeat_ngram=3,
    )
    search = build_search(settings, SYMBOLS, vocabulary_size=9, prefix=[3, 4], max_target_tokens=50)
    assert isinstance(search, BeamSearch)
    assert isinstance(search.length_penalty, GNMTLengthPenalty)
    assert (search.group_size, search.n_best, search.max_tokens, search.length_penalty.alpha) == (
        3,
        2,
        50,
        0.6,
    )
    assert [type(one).__name__ for one in search.constraints] == [
        "MinTokens",
        "NoRepeatNGram",
        "ForcedPrefix",
    ]
    assert search.coverage_penalty is not None


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"min_tokens": 9, "max_tokens": 8}, ["min_tokens=9", "max_tokens=8"]),
        ({"beam": 4, "n_best": 5}, ["n_best=5", "beam=4"]),
        ({"beam": 6, "beam_groups": 4}, ["beam_groups=4", "beam=6", "1, 2, 3, 6"]),
        ({"beam": 4, "temperature": 0.5}, ["beam=4", "temperature=0.5"]),
        ({"samples": 3}, ["samples=3", "temperature=0"]),
        ({"temperature": 1, "samples": 3, "n_best": 4}, ["n_best=4", "samples=3"]),
        ({"choose_by": "risk"}, ["choose_by=risk", "samples=32"]),
        ({"top_k": 5, "top_p": 0.9}, ["top_k=5", "top_p=0.9", "temperature=0"]),
        ({"coverage_penalty": 0.3}, ["coverage_penalty=0.3", "beam=1"]),
        ({"context": 5}, ["context"]),
    ],
)
def test_contradictions_are_rejected_with_the_settings_named(given: dict[str, Any], facts: list[str]) -> None:
    with pytest.raises(ValidationError) as caught:
        SearchSettings(**given)
    assert [fact for fact in facts if fact not in str(caught.value)] == []


@pytest.mark.parametrize("name", ["beam", "n_best", "samples", "min_tokens", "no_repeat_ngram", "batch_size"])
def test_what_has_no_effect_on_a_language_model_is_rejected(name: str) -> None:
    with pytest.raises(ValidationError, match=name):
        SamplingSettings(**{name: 7})
    default = DecodingSettings.model_fields[name].default
    assert SamplingSettings(**{name: default}) == SamplingSettings()  # as a recipe spells it out


def test_a_language_model_samples_so_that_truncation_needs_no_temperature() -> None:
    assert SamplingSettings(top_k=5, top_p=0.9).top_k == 5


def test_a_task_that_generates_nothing_rejects_every_setting() -> None:
    for name, field in DecodingSettings.model_fields.items():
        other = {
            "length_penalty_kind": "gnmt",
            "choose_by": "risk",
            "unknown": "copy",
            "prefix": "a",
            "top_p": 0.5,
        }
        value = other.get(name, 1 if field.default == 0 else 2)
        if value != field.default:
            with pytest.raises(ValidationError, match=name):
                NoDecoding(**{name: value})
    assert NoDecoding().beam == 1


def test_what_does_not_fit_the_vocabulary_or_the_limit_is_refused_by_words() -> None:
    with pytest.raises(ArgumentError, match=r"^beam_size=12: (.|\n)*at most 9"):
        build_search(SearchSettings(beam=12), SYMBOLS, vocabulary_size=9)
    with pytest.raises(UsageError, match=r"prefix has 4 tokens.* 3"):
        build_search(SearchSettings(max_tokens=3), SYMBOLS, vocabulary_size=9, prefix=[1, 2, 3, 4])
    with pytest.raises(UsageError, match=r"^min_tokens=7: (.|\n)*at most 5"):
        build_search(SearchSettings(min_tokens=7), SYMBOLS, vocabulary_size=9, max_target_tokens=5)


def test_every_setting_says_in_one_short_sentence_what_it_does() -> None:
    for entry in describe(SearchSettings):
        assert entry.sentence.endswith(".")
        assert len(entry.sentence) < 160


def test_the_answer_by_risk_is_the_one_most_like_the_others() -> None:
    found = [
        Hypothesis(tokens, [log_prob], log_prob, True)
        for tokens, log_prob in (([7, 8], -1.0), ([1, 2, 3], -1.1), ([1, 2, 4], -1.2), ([1, 2], -3.0))
    ]
    assert select_n_best(SearchSettings(beam=4, n_best=4), found)[0].tokens == [7, 8]
    by_draws = SearchSettings(temperature=1, samples=4, n_best=2, choose_by="risk")
    assert [one.tokens for one in select_n_best(by_draws, found)] == [[1, 2], [7, 8]]
    by_beam = SearchSettings(beam=4, choose_by="risk")  # all four are compared, however many are asked for
    assert build_search(by_beam, SYMBOLS, vocabulary_size=9).n_best == 4
    assert [one.tokens for one in select_n_best(by_beam, found)] == [
        [1, 2, 3]
    ]  # 0.45 by hand; [1, 2, 4] has 0.43, the likeliest 0.35
    likely = [Hypothesis([7, 8], [-0.1], -0.1, True), *found[1:]]
    assert select_n_best(SearchSettings(beam=4, n_best=4, choose_by="risk"), likely)[0].tokens == [
        7,
        8,
    ]  # its probability outweighs the rest
