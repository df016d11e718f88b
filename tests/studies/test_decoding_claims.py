"""The study of beam widths: its exact search against everything there is, its measures by hand, its verdict."""

from __future__ import annotations

import math

import pytest

from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.search import SourceBatch, SpecialTokens
from seqlab.studies.beam_width import (
    EXACT,
    GREEDY,
    SearchResult,
    Summaries,
    conclude,
    measure,
    over_seeds,
)
from seqlab.studies.kit.exact_search import ExactSearch
from tests.decoding.tables_to_try import END, START, Rules, TableTranslator, batch, everything
from tests.studies.findings import quick

SOURCES = ((1, 2), (2,), (2, 1, 1), (1,))


def greedy(special_tokens: SpecialTokens, *, max_tokens: int) -> BeamSearch:
    return BeamSearch(special_tokens, beam_size=1, max_tokens=max_tokens)


@pytest.mark.spec(119)
@pytest.mark.parametrize(("vocab", "max_tokens"), [(3, 5), (5, 2), (4, 1)])
def test_exact_search_finds_the_best_of_all_targets_and_greedy_decoding_often_does_not(
    vocab: int, max_tokens: int
) -> None:
    missed, cut = 0, 0
    for seed in range(5):
        model = TableTranslator(vocab, seed, spread=1.0)
        first = greedy(SpecialTokens(START, END), max_tokens=max_tokens)
        sources = SourceBatch.from_tokens(*batch(SOURCES))
        for source, (found,), (fast,) in zip(
            SOURCES, ExactSearch(first).run(model, sources), first.run(model, sources), strict=True
        ):
            best = everything(model, source, max_tokens, Rules())[0]
            assert (tuple(found.tokens), found.ended) == (best.tokens, best.ended)
            assert found.log_prob == pytest.approx(best.log_prob, abs=1e-5)
            assert found.score == pytest.approx(best.log_prob, abs=1e-5)
            assert len(found.token_log_probs) == len(found.tokens) + found.ended
            missed += found.tokens != fast.tokens
            cut += not found.ended
    assert bool(missed) == (max_tokens > 1)  # with one step there is nothing to miss
    assert bool(cut) == (max_tokens < 5)  # a limit of five leaves room for the end token


def test_exact_search_never_chooses_suppressed_tokens() -> None:
    model = TableTranslator(4, seed=2)
    sources = SourceBatch.from_tokens(*batch(SOURCES))
    allowed = SpecialTokens(START, END, (2,))
    found = ExactSearch(greedy(allowed, max_tokens=4)).run(model, sources)
    rules = Rules(may_follow=lambda _, token: token != 2)
    for source, (target,) in zip(SOURCES, found, strict=True):
        assert tuple(target.tokens) == everything(model, source, 4, rules)[0].tokens


def test_exact_search_keeps_no_more_hypotheses_than_their_probabilities_allow() -> None:
    for seed in range(5):
        model = TableTranslator(5, seed, spread=3.0)
        first = greedy(SpecialTokens(START, END), max_tokens=5)
        sources = SourceBatch.from_tokens(*batch([(1, 2)]))
        ((bound,),) = first.run(model, sources)
        model.batches.clear()
        ExactSearch(first).run(model, sources)
        searched = model.batches[5:]  # the first five are of the greedy search
        assert searched == [] or max(searched) <= 1 / math.exp(bound.log_prob)


def hypothesis(tokens: list[int], log_prob: float) -> Hypothesis:
    return Hypothesis(tokens, [log_prob], log_prob, ended=True)


def test_measures_of_a_search_are_those_by_hand() -> None:
    targets = [hypothesis([5, 6, 7, 8], -1.0), hypothesis([5], -3.0)]
    best = [hypothesis([5, 6, 7, 8], -1.0), hypothesis([], -2.5)]
    found = measure(targets, best, [[5, 6, 7, 8], [5, 9, 9]])
    assert found.log_prob == pytest.approx(-2.0)
    assert found.optimum_found == 0.5
    assert found.length_ratio == pytest.approx(5 / 7)
    # Every n-gram matches (5 words, 3 pairs, 2 triples, 1 of four): only the brevity penalty is left.
    assert found.bleu == pytest.approx(math.exp(1 - 7 / 5))


def summaries(exact_bleu: tuple[float, float], exact_log_prob: float = -1.0) -> Summaries:
    """Two seeds with a greedy BLEU of 0.5 and 0.6."""
    runs = []
    for greedy_bleu, bleu in zip((0.5, 0.6), exact_bleu, strict=True):
        fast = SearchResult(
            log_prob=-2.0 + greedy_bleu, optimum_found=0.4, bleu=greedy_bleu, length_ratio=1.0
        )
        wide = SearchResult(log_prob=-1.5, optimum_found=0.7, bleu=0.5, length_ratio=0.9)
        best = SearchResult(exact_log_prob + greedy_bleu, optimum_found=1.0, bleu=bleu, length_ratio=0.6)
        runs.append({(GREEDY, 0.0): fast, ("beam 8", 0.0): wide, ("beam 8", 1.0): fast, (EXACT, 0.0): best})
    return over_seeds(runs)


WORSE, SAME, BETTER = (0.4, 0.5), (0.4, 0.7), (0.6, 0.7)


@pytest.mark.parametrize(
    ("networks", "verdict"),
    [
        ([summaries(WORSE), summaries(SAME)], "Holds: "),
        ([summaries(WORSE), summaries(BETTER)], "Depends on the network: "),
        ([summaries(SAME), summaries(BETTER)], "Does not hold here: "),
        ([summaries(WORSE, exact_log_prob=-2.0)], "Does not hold here: "),  # not more probable than greedy
    ],
)
def test_the_verdict_asks_whether_the_most_probable_targets_are_worse(
    networks: list[Summaries], verdict: str
) -> None:
    conclusion = conclude({f"network {number}": found for number, found in enumerate(networks)})
    assert conclusion.startswith(verdict)
    assert "40% of the most probable targets and beam 8 70%" in conclusion
    assert "at 0.60 of the references' length" in conclusion


def test_changes_are_paired_by_seed() -> None:
    found = summaries(WORSE)[EXACT, 0.0]
    assert found.bleu_change.values == pytest.approx([-0.1, -0.1])
    assert found.log_prob_change.values == pytest.approx([1.0, 1.0])
    assert found.mean("length_ratio") == pytest.approx(0.6)


@pytest.mark.long
@pytest.mark.spec(119)
def test_wider_beams_find_more_probable_targets_and_the_most_probable_ones_of_a_weak_network_are_short() -> (
    None
):
    found = quick("beam_width")
    for network in {str(row["network"]) for row in found.rows}:
        rows = found.select_rows(network=network, **{"length penalty": "0"})
        assert [row["search"] for row in rows] == [GREEDY, "beam 4", "beam 32", EXACT]
        log_probs = [float(row["log P"]) for row in rows]
        assert log_probs == sorted(log_probs)
        assert rows[-1]["optimum found"] == 1.0
    weak, wide = {"network": "one vector, 150 updates"}, {"search": "beam 32"}
    exact = found.select_rows(**weak, search=EXACT)[0]
    assert float(exact["length / reference"]) < 0.75
    assert float(exact["BLEU"]) < found.value("BLEU", **weak, search=GREEDY) - 0.02
    assert found.value("length / reference", **weak, **wide, **{"length penalty": "1"}) > 0.95
    good = found.select_rows(network="attention, 150 updates", search=GREEDY)[0]
    assert float(good["optimum found"]) > 0.8
