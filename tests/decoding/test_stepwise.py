"""One token after the other, against taking the best token of the whole forward pass again and again, and
against the wheel itself.
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from seqlab.decoding.batched_decoding import decode_batched
from seqlab.decoding.constraints import ForcedPrefix, MinTokens, NoRepeatNGram
from seqlab.decoding.forced_scoring import score_targets
from seqlab.decoding.search import SourceBatch, SpecialTokens
from seqlab.decoding.stepwise import StepwiseSearch
from seqlab.decoding.token_choice import Greedy, MultinomialSampler
from seqlab.models.decoders.base import DecoderState
from seqlab.models.encoder_decoder import EncoderDecoder
from tests.decoding.tables_to_try import SYMBOLS, TableTranslator, batch
from tests.models.pairs_to_try import END, PAD, SMALL, START, build_pair, ragged_pairs

LENGTHS = [4, 7, 1, 3, 6]


def tokens_of(search: StepwiseSearch, model: object, source: Tensor, is_token: Tensor) -> list[list[int]]:
    return [best.tokens for (best,) in search.run(model, SourceBatch.from_tokens(source, is_token))]  # type: ignore[arg-type]  # any translator


def greedy(max_tokens: int, *, end_id: int = END, never: tuple[int, ...] = ()) -> StepwiseSearch:
    return StepwiseSearch(SpecialTokens(START, end_id, never), Greedy(), max_tokens=max_tokens)


@torch.no_grad()
def slowly(
    model: EncoderDecoder, source: Tensor, length: int, *, max_tokens: int, never: int | None = None
) -> list[int]:
    """One source at a time, the whole target anew for every token."""
    tokens = [START]
    while len(tokens) <= max_tokens:
        targets = torch.tensor([tokens])
        logits = model(
            source[None, :length],
            torch.ones(1, length, dtype=torch.bool),
            targets,
            torch.ones_like(targets, dtype=torch.bool),
        )[0, -1]
        best = max(
            (token for token in range(len(logits)) if token != never), key=lambda token: float(logits[token])
        )
        if best == END:
            break
        tokens.append(best)
    return tokens[1:]


def model_that_ends() -> EncoderDecoder:
    """Random weights large enough that targets differ, and a bias for the end."""
    model = build_pair(SMALL, seed=4, noise=0.9)
    with torch.no_grad():
        model.bias[END] += 6
    return model


@pytest.mark.slow
@pytest.mark.spec(34)
@pytest.mark.spec(117)
@pytest.mark.spec(121)
@pytest.mark.spec(162)
@pytest.mark.parametrize("never", [None, 5])
def test_it_equals_the_best_token_of_the_whole_pass_again_and_again(never: int | None) -> None:
    model, given = model_that_ends(), ragged_pairs(LENGTHS, [1] * 5)
    found = tokens_of(
        greedy(9, never=() if never is None else (never,)), model, given.source, given.source_is_token
    )
    expected = [
        slowly(model, source, length, max_tokens=9, never=never)
        for source, length in zip(given.source, LENGTHS, strict=True)
    ]
    assert found == expected
    assert len({len(target) for target in found}) > 1  # they end at different times


@pytest.mark.spec(44)
def test_the_log_probability_is_that_of_forced_scoring() -> None:
    model, given = model_that_ends(), ragged_pairs(LENGTHS, [1] * 5)
    found = [
        best for (best,) in greedy(9).run(model, SourceBatch.from_tokens(given.source, given.source_is_token))
    ]
    sources = [row[:length] for row, length in zip(given.source, LENGTHS, strict=True)]
    forced = score_targets(
        model,
        sources,
        [one.tokens for one in found],
        SpecialTokens(START, END),
        ended=[one.ended for one in found],
    )
    assert [one.log_prob for one in found] == pytest.approx([one.log_prob for one in forced], abs=1e-9)
    assert {one.ended for one in found} == {True, False}


def test_the_order_of_a_batch_and_more_padding_change_nothing() -> None:
    model, given = model_that_ends(), ragged_pairs(LENGTHS, [1] * 5)
    expected = tokens_of(greedy(9), model, given.source, given.source_is_token)
    order = [3, 0, 4, 4]
    wider, is_wider = (
        torch.nn.functional.pad(each[order], (0, 3)) for each in (given.source, given.source_is_token)
    )
    assert tokens_of(greedy(9), model, wider, is_wider) == [expected[row] for row in order]


class Countdown:
    """Its target counts the source's first token down to 3, then ends; keeps the size of every batch that it
    sees.
    """

    def __init__(self) -> None:
        self.batches: list[int] = []

    def encode(self, source: Tensor, source_is_token: Tensor) -> DecoderState:
        return DecoderState((), (source[:, 0],))

    def decode(
        self, targets: Tensor, is_token: Tensor, decoder_state: DecoderState
    ) -> tuple[Tensor, DecoderState]:
        (left,) = decoder_state.cache
        self.batches.append(len(left))
        wanted = torch.where(left > 2, left, END)  # (batch,)
        return torch.nn.functional.one_hot(wanted, 12).float()[:, None], decoder_state.with_cache((left - 1,))


@pytest.mark.spec(34)
def test_a_target_that_has_ended_leaves_the_batch() -> None:
    model = Countdown()
    source = torch.tensor([[5], [2], [7], [3]])
    assert tokens_of(greedy(20), model, source, torch.ones_like(source, dtype=torch.bool)) == [
        [5, 4, 3],
        [],
        [7, 6, 5, 4, 3],
        [3],
    ]
    assert model.batches == [4, 3, 2, 2, 1, 1]


@pytest.mark.spec(34)
def test_a_target_that_does_not_end_is_cut() -> None:
    source = torch.tensor([[9], [4]])
    found = greedy(3).run(
        Countdown(), SourceBatch.from_tokens(source, torch.ones_like(source, dtype=torch.bool))
    )
    assert [(one.tokens, one.ended) for (one,) in found] == [([9, 8, 7], False), ([4, 3], True)]
    assert tokens_of(greedy(3), Countdown(), source[:0], torch.ones(0, 1, dtype=torch.bool)) == []


def test_nothing_is_left_on_for_gradients() -> None:
    model, given = build_pair(), ragged_pairs([3], [1])
    tokens_of(greedy(2, end_id=PAD), model, given.source, given.source_is_token)
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.slow
@pytest.mark.spec(118)
def test_draws_come_as_often_as_they_are_probable_and_say_how_probable_they_were() -> None:
    """All complete targets of a tiny table, against 3,000 draws; the log-probability stays that of the
    network at another temperature.
    """
    model, source = TableTranslator(3, seed=5), (1, 2)
    search = StepwiseSearch(
        SYMBOLS, MultinomialSampler(temperature=1.0, seed=3, num_samples=3000), max_tokens=2
    )
    (found,) = search.run(model, SourceBatch.from_tokens(*batch([source])))
    counts: dict[tuple[int, ...], int] = {}
    for one in found:
        counts[(*one.tokens, *([0] if one.ended else []))] = (
            counts.get((*one.tokens, *([0] if one.ended else [])), 0) + 1
        )
        total = sum(
            model.log_prob(source, tuple(one.tokens[:place]), token)
            for place, token in enumerate([*one.tokens, *([0] if one.ended else [])])
        )
        assert one.log_prob == pytest.approx(total, abs=1e-5)
    shares = {
        target: math.exp(
            sum(model.log_prob(source, target[:place], token) for place, token in enumerate(target))
        )
        for target in counts
    }
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-5)  # all 7 were drawn
    chi_square = sum(
        (counts[target] - share * 3000) ** 2 / (share * 3000) for target, share in shares.items()
    )
    assert chi_square < 22.5  # one in a thousand with six degrees of freedom


@pytest.mark.spec(118)
def test_the_draws_of_a_sentence_depend_on_its_number_and_the_seed_alone() -> None:
    model = TableTranslator(5, seed=2)
    sources = [torch.tensor(row) for row in ([1], [2, 3, 4, 1], [2, 2], [1], [3, 3, 3])]

    def draw(seed: int, batch_size: int, look_ahead: int) -> list[list[list[int]]]:
        search = StepwiseSearch(
            SYMBOLS, MultinomialSampler(temperature=1.3, seed=seed, num_samples=2), max_tokens=6
        )
        found = decode_batched(model, sources, search, batch_size=batch_size, lookahead_batches=look_ahead)
        return [[one.tokens for one in targets] for targets in found]

    expected = draw(1, 5, 1)
    assert draw(1, 1, 1) == draw(1, 2, 1) == draw(1, 2, 2) == expected != draw(2, 5, 1)
    assert expected[0] != expected[3]  # the same source, another number


@pytest.mark.spec(118)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.1, 0.2, 0.3, 0.4]),
        ({"temperature": 0.5}, [1 / 30, 4 / 30, 9 / 30, 16 / 30]),
        ({"top_k": 2}, [0, 0, 3 / 7, 4 / 7]),
        ({"top_p": 0.65}, [0, 0, 3 / 7, 4 / 7]),
        ({"min_p": 0.45}, [0, 2 / 9, 3 / 9, 4 / 9]),
    ],
)
def test_the_wheel_has_a_sector_for_every_token(options: dict[str, float], expected: list[float]) -> None:
    """Where it stops, for numbers spread evenly over [0, 1)."""
    luck = torch.arange(9000, dtype=torch.float64).add(0.5) / 9000
    log_probs = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log().expand(9000, 4)
    counts = (
        torch.bincount(MultinomialSampler(**options).choose(log_probs, luck), minlength=4).double() / 9000
    )  # type: ignore[arg-type]  # by name
    assert counts.tolist() == pytest.approx(expected, abs=2e-4)


def test_constraints_hold_for_greedy_and_for_draws() -> None:
    sources = SourceBatch.from_tokens(*batch([(1, 2), (3,), (2,)]))
    for chooser in (Greedy(), MultinomialSampler(num_samples=4)):
        rules = [MinTokens(3, end_id=0), NoRepeatNGram(2), ForcedPrefix([2, 2, 2], per_source={1: [1]})]
        found = StepwiseSearch(SYMBOLS, chooser, max_tokens=7, constraints=rules).run(
            TableTranslator(4, seed=7), sources
        )
        for number, targets in enumerate(found):
            for one in targets:
                assert one.tokens[: 1 if number == 1 else 3] == ([1] if number == 1 else [2, 2, 2])
                pairs = list(
                    zip(
                        one.tokens[0 if number == 1 else 2 :],
                        one.tokens[1 if number == 1 else 3 :],
                        strict=False,
                    )
                )
                assert len(pairs) == len(set(pairs))
                assert len(one.tokens) >= 3


def test_where_everything_is_forbidden_a_target_stops_without_an_end() -> None:
    rules = [MinTokens(5, end_id=0), NoRepeatNGram(1)]
    for chooser in (Greedy(), MultinomialSampler()):
        ((one,),) = StepwiseSearch(SYMBOLS, chooser, max_tokens=9, constraints=rules).run(
            TableTranslator(4), SourceBatch.from_tokens(*batch([(1,)]))
        )
        assert (sorted(one.tokens), one.ended, len(one.token_log_probs)) == ([1, 2, 3], False, 3)
