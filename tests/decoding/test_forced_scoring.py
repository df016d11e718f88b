"""Forced scores by hand, ensembles by plain means, the least risk by counting."""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.core.errors import UsageError
from seqlab.decoding.batched_decoding import decode_batched
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.forced_scoring import score_targets
from seqlab.decoding.minimum_bayes_risk import expected_utilities, minimum_risk_index, ngram_overlap
from seqlab.decoding.search import SourceBatch, SpecialTokens
from tests.decoding.tables_to_try import SYMBOLS, TableTranslator, Tokens, batch
from tests.models.pairs_to_try import END, START, build_pair, ragged_pairs


@pytest.mark.spec(44)
def test_a_score_is_the_sum_over_its_tokens_and_its_end() -> None:
    model = TableTranslator(4, seed=3)
    source: Tokens = (1, 3)
    targets = [[2, 1, 3], [], [3], [2, 1]]
    found = score_targets(
        model, [torch.tensor(source)] * 4, targets, SYMBOLS, ended=[True, True, True, False]
    )
    for target, one in zip([[2, 1, 3, 0], [0], [3, 0], [2, 1]], found, strict=True):
        expected = [
            model.log_prob(source, tuple(target[:place]), token) for place, token in enumerate(target)
        ]
        assert one.token_log_probs == pytest.approx(expected, abs=1e-6)
        assert one.log_prob == one.score == pytest.approx(sum(expected), abs=1e-6)
    assert [one.tokens for one in found] == targets
    first, second = score_targets(
        model, [torch.tensor(source)] * 2, [[2], [1, 1, 1]], SYMBOLS
    )  # two translations side by side
    assert second.log_prob > first.log_prob + 3  # the longer one is likelier here


@pytest.mark.spec(44)
def test_pairs_of_any_length_and_order_are_scored_as_if_alone() -> None:
    model, given = build_pair(noise=0.6), ragged_pairs([4, 1, 6, 3], [5, 2, 1, 4])
    sources = [row[mask] for row, mask in zip(given.source, given.source_is_token, strict=True)]
    targets = [row[mask].tolist() for row, mask in zip(given.targets, given.target_is_token, strict=True)]
    together = score_targets(model, sources, targets, SpecialTokens(START, END))
    alone = [
        score_targets(model, [source], [target], SpecialTokens(START, END))[0]
        for source, target in zip(sources, targets, strict=True)
    ]
    for one, other, target in zip(together, alone, targets, strict=True):
        assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-9)
        assert len(one.token_log_probs) == len(target) + 1
    with pytest.raises(UsageError, match=r"4 sources .* 3 targets"):
        score_targets(model, sources, targets[:3], SpecialTokens(START, END))


def test_an_ensemble_is_the_mean_of_probabilities() -> None:
    first, second, source = TableTranslator(3, seed=1), TableTranslator(3, seed=2), (2, 1)
    found = BeamSearch(SYMBOLS, beam_size=27, n_best=27, max_tokens=3).run(
        Ensemble([first, second]), SourceBatch.from_tokens(*batch([source]))
    )
    for one in found[0]:
        total = 0.0
        for place, token in enumerate([*one.tokens, *([0] if one.ended else [])]):
            known = tuple(one.tokens[:place])
            total += math.log(
                (
                    math.exp(first.log_prob(source, known, token))
                    + math.exp(second.log_prob(source, known, token))
                )
                / 2
            )
        assert one.log_prob == pytest.approx(total, abs=1e-5)
    assert len(found[0]) == 15  # all there are: 1 + 2 + 4 that end, 8 that are cut


def test_an_ensemble_of_one_network_twice_is_that_network() -> None:
    model, given = build_pair(noise=0.6), ragged_pairs([4, 1, 6], [1, 1, 1])
    search = BeamSearch(SpecialTokens(START, END), beam_size=3, max_tokens=6)
    sources = SourceBatch.from_tokens(given.source, given.source_is_token)
    alone, twice = search.run(model, sources), search.run(Ensemble([model, model]), sources)
    assert [best.tokens for (best,) in alone] == [best.tokens for (best,) in twice]
    assert [best.log_prob for (best,) in alone] == pytest.approx(
        [best.log_prob for (best,) in twice], abs=1e-9
    )


def test_an_ensemble_refuses_different_vocabularies_by_words() -> None:
    with pytest.raises(UsageError, match=r"vocabularies of 3, 4 tokens(.|\n)*same vocabulary"):
        BeamSearch(SYMBOLS, beam_size=2, max_tokens=3).run(
            Ensemble([TableTranslator(3), TableTranslator(4)]), SourceBatch.from_tokens(*batch([(1,)]))
        )
    with pytest.raises(UsageError, match="at least one model"):
        Ensemble([])


def test_the_least_risk_is_the_candidate_nearest_to_all_others() -> None:
    """Utility 1 - |a - b| / 10 over numbers: the best is the one with the least mean distance, the median;
    weights move it.
    """
    numbers = [1.0, 2.0, 3.0, 9.0, 10.0]
    expected = expected_utilities(numbers, lambda one, other: 1 - abs(one - other) / 10)
    assert expected[2] == pytest.approx(1 - (2 + 1 + 0 + 6 + 7) / 50)
    assert minimum_risk_index(numbers, lambda one, other: -abs(one - other)) == 2
    assert (
        minimum_risk_index(numbers, lambda one, other: -abs(one - other), weights=[0, 0, 0.1, 0.8, 0.1]) == 3
    )
    targets = [[1, 2, 3, 4], [1, 2, 3, 5], [7], [1, 2, 3]]
    assert minimum_risk_index(targets, ngram_overlap) == 3


def test_sources_are_sorted_into_batches_and_answered_in_order() -> None:
    model = TableTranslator(4, seed=9)
    rows: list[Tokens] = [(1,), (1, 2, 3, 1, 2), (2, 2), (3, 1, 2, 2, 1), (2,), (3, 3), (1, 1, 1)]
    search = BeamSearch(SYMBOLS, beam_size=2, max_tokens=4)
    alone = [search.run(model, SourceBatch.from_tokens(*batch([row])))[0] for row in rows]
    taken: list[int] = []

    def stream() -> object:
        for number, row in enumerate(rows):
            taken.append(number)
            yield torch.tensor(row)

    answers = decode_batched(model, stream(), search, batch_size=2, lookahead_batches=2)  # type: ignore[arg-type]  # an iterator
    first = next(answers)
    assert taken == [0, 1, 2, 3]  # no more than needed is read
    model.batches.clear()
    found = [first, *answers]
    assert [[one.tokens for one in targets] for targets in found] == [
        [one.tokens for one in targets] for targets in alone
    ]
    assert model.batches[0] == 2
    (empty,) = decode_batched(model, [torch.zeros(0, dtype=torch.long)], search)
    assert empty[0].log_prob <= 0
