"""Beam search against a search that looks at every target there is, and against plain loops."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor

from seqlab.core.errors import UsageError
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.beam_policy import BeamPolicy, OpenBeam, SharedBeam, ThoroughBeam
from seqlab.decoding.constraints import ForcedPrefix, MinTokens, NoRepeatNGram
from seqlab.decoding.coverage import CoveragePenalty
from seqlab.decoding.diversity import Diversity
from seqlab.decoding.forced_scoring import score_targets
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.length_normalization import (
    GNMTLengthPenalty,
    LengthPenalty,
    NoLengthPenalty,
    PowerLengthPenalty,
)
from seqlab.decoding.search import SourceBatch, SpecialTokens
from seqlab.decoding.stepwise import StepwiseSearch
from seqlab.decoding.token_choice import Greedy
from seqlab.models.decoders.base import DecoderState
from tests.decoding.tables_to_try import END, SYMBOLS, Rules, TableTranslator, Tokens, batch, everything
from tests.models.pairs_to_try import END as REAL_END
from tests.models.pairs_to_try import PAD, SMALL, START, build_pair, ragged_pairs

SOURCES: list[Tokens] = [(1, 2, 3), (2,), (3, 1)]


def run(
    model: Any, sources: list[Tokens] = SOURCES, *, padding: int = 0, **options: Any
) -> list[list[Hypothesis]]:
    return BeamSearch(SYMBOLS, **options).run(
        model, SourceBatch.from_tokens(*batch(sources, padding=padding))
    )


def no_token_twice(written: Tokens, token: int) -> bool:
    return token not in written


def no_pair_twice(written: Tokens, token: int) -> bool:
    return not written or (written[-1], token) not in pairwise(written)


CASES: dict[str, tuple[int, int, dict[str, Any], Rules]] = {
    "plain": (4, 3, {}, Rules()),
    "a mean": (
        3,
        4,
        {"length_penalty": PowerLengthPenalty(1.0)},
        Rules(lambda log_prob, length: log_prob / length),
    ),
    "a power that favours long targets": (
        3,
        4,
        {"length_penalty": PowerLengthPenalty(2.5)},
        Rules(lambda log_prob, length: log_prob / length**2.5),
    ),
    "gnmt": (
        3,
        4,
        {"length_penalty": GNMTLengthPenalty(0.6)},
        Rules(lambda log_prob, length: log_prob / ((5 + length) / 6) ** 0.6),
    ),
    "coverage": (
        3,
        3,
        {"length_penalty": GNMTLengthPenalty(0.6), "coverage_penalty": CoveragePenalty(0.4)},
        Rules(lambda log_prob, length: log_prob / ((5 + length) / 6) ** 0.6, beta=0.4),
    ),
    "at least two": (
        3,
        4,
        {"constraints": [MinTokens(2, end_id=END)]},
        Rules(may_follow=lambda written, token: token != END or len(written) >= 2),
    ),
    "no token twice": (3, 4, {"constraints": [NoRepeatNGram(1)]}, Rules(may_follow=no_token_twice)),
    "no pair twice": (
        3,
        4,
        {"length_penalty": PowerLengthPenalty(1.0), "constraints": [NoRepeatNGram(2)]},
        Rules(lambda log_prob, length: log_prob / length, no_pair_twice),
    ),
    "nothing left to say": (
        3,
        4,
        {"constraints": [NoRepeatNGram(1), MinTokens(3, end_id=END)]},
        Rules(
            may_follow=lambda written, token: (
                no_token_twice(written, token) and (token != END or len(written) >= 3)
            )
        ),
    ),
    "a prefix": (
        4,
        4,
        {"constraints": [NoRepeatNGram(1), ForcedPrefix([2, 2])]},
        Rules(
            may_follow=lambda written, token: (
                token == 2 if len(written) < 2 else no_token_twice(written, token)
            )
        ),
    ),
}


POLICIES = [OpenBeam(), ThoroughBeam(), SharedBeam()]
BY_NAME = {"ids": lambda policy: type(policy).__name__}


@pytest.mark.spec(119)
@pytest.mark.parametrize("policy", POLICIES, **BY_NAME)
@pytest.mark.parametrize("name", CASES)
def test_a_beam_as_wide_as_everything_equals_exhaustive_search(name: str, policy: BeamPolicy) -> None:
    vocab, max_tokens, options, rules = CASES[name]
    options = {**options, "policy": policy}
    for seed, n_best in ((1, 5), (2, 1), (3, 1)):  # for one answer it stops as soon as it can
        model = TableTranslator(vocab, seed, looks=name == "coverage")
        for source, found in zip(
            SOURCES,
            run(model, beam_size=vocab**max_tokens, n_best=n_best, max_tokens=max_tokens, **options),
            strict=True,
        ):
            expected = everything(model, source, max_tokens, rules)[:n_best]
            assert [(tuple(one.tokens), one.ended) for one in found] == [
                (one.tokens, one.ended) for one in expected
            ]
            for one, truth in zip(found, expected, strict=True):
                assert one.log_prob == pytest.approx(truth.log_prob, abs=1e-5)
                assert one.score == pytest.approx(truth.score, abs=1e-5)


@pytest.mark.spec(119)
@pytest.mark.parametrize("policy", [ThoroughBeam(), SharedBeam()], **BY_NAME)
def test_stopping_early_saves_steps_and_changes_nothing(policy: BeamPolicy) -> None:
    """With the plain sum an end that is likelier than all that is open stops the search; a rule for long
    targets has to go on.
    """
    steps = {}
    for name, rule in {"sum": NoLengthPenalty(), "for long ones": PowerLengthPenalty(4.0)}.items():
        model = TableTranslator(4, seed=6, spread=3.0)
        run(model, beam_size=4, max_tokens=12, length_penalty=rule, policy=policy)
        steps[name] = len(model.batches)
    assert steps["sum"] < steps["for long ones"] == 12


@pytest.mark.spec(119)
@pytest.mark.parametrize(
    "rule", [NoLengthPenalty(), PowerLengthPenalty(1.0), GNMTLengthPenalty(0.6)], ids=["sum", "power", "gnmt"]
)
@pytest.mark.parametrize(
    "constraints", [[], [NoRepeatNGram(2), MinTokens(2, end_id=END)]], ids=["free", "bound"]
)
def test_a_shared_beam_of_one_is_greedy_whatever_the_rule(
    rule: LengthPenalty, constraints: list[Any]
) -> None:
    for seed in range(6):
        model = TableTranslator(4, seed)
        greedy = StepwiseSearch(SYMBOLS, Greedy(), max_tokens=5, constraints=constraints).run(
            model, SourceBatch.from_tokens(*batch(SOURCES))
        )
        options = {"length_penalty": rule, "constraints": constraints, "policy": SharedBeam()}
        found = run(model, beam_size=1, max_tokens=5, **options)
        assert [[(one.tokens, one.ended) for one in target] for target in found] == [
            [(one.tokens, one.ended) for one in target] for target in greedy
        ]
        assert found[0][0].log_prob == pytest.approx(greedy[0][0].log_prob)


class Trap:
    """The likeliest first token, 1, leads to a fair coin; the second likeliest, 2, is followed by the end for
    certain.
    """

    TABLE: ClassVar = {(): [0.0, 0.6, 0.4], (1,): [0.5, 0.5, 0.0], (2,): [1.0, 0.0, 0.0]}

    def encode(self, source: Tensor, source_is_token: Tensor) -> DecoderState:
        return DecoderState((source,), (torch.zeros(len(source), 0, dtype=torch.long),))

    def decode(
        self, targets: Tensor, is_token: Tensor, decoder_state: DecoderState
    ) -> tuple[Tensor, DecoderState]:
        written = torch.cat([decoder_state.cache[0], targets], dim=1)
        rows = [self.TABLE.get(tuple(row[1:]), [1.0, 0.0, 0.0]) for row in written.tolist()]
        return torch.tensor(rows).log()[:, None], decoder_state.with_cache((written,))


@pytest.mark.spec(117)
def test_greedy_is_not_optimal_where_the_best_start_leads_astray() -> None:
    """P(1, end) = 0.6 · 0.5 = 0.3 is what greedy finds; P(2, end) = 0.4 · 1 = 0.4 is the best."""
    source = SourceBatch.from_tokens(*batch([(1,)]))
    ((greedy,),) = StepwiseSearch(SYMBOLS, Greedy(), max_tokens=4).run(Trap(), source)
    ((best,),) = BeamSearch(SYMBOLS, beam_size=2, max_tokens=4).run(Trap(), source)
    assert (greedy.tokens, greedy.log_prob) == ([1], pytest.approx(math.log(0.3)))
    assert (best.tokens, best.log_prob) == ([2], pytest.approx(math.log(0.4)))


def slow_beam(
    model: TableTranslator, source: Tokens, *, width: int, max_tokens: int, n_best: int, is_shared: bool
) -> list[tuple[Tokens, bool, float]]:
    """The same idea in a few lines without tensors and without stopping early."""
    still_open: list[tuple[Tokens, float]] = [((), 0.0)]
    complete: list[tuple[Tokens, bool, float]] = []
    for length in range(1, max_tokens + 1):
        following = [
            ((*written, token), total + model.log_prob(source, written, token))
            for written, total in still_open
            for token in range(model.vocab)
        ]
        ranked = sorted(following, key=lambda one: -one[1])
        kept = ranked[:width]
        complete += [(tokens[:-1], True, total / length) for tokens, total in kept if tokens[-1] == END]
        goes_on = kept if is_shared else ranked
        still_open = [one for one in goes_on if one[0][-1] != END][:width]
    complete += [(tokens, False, total / max_tokens) for tokens, total in still_open]
    return sorted(complete, key=lambda one: -one[2])[:n_best]


@pytest.mark.spec(119)
@pytest.mark.parametrize("policy", [ThoroughBeam(), SharedBeam()], **BY_NAME)
@pytest.mark.parametrize("width", [2, 3, 5])
def test_a_narrow_beam_equals_the_slow_one(width: int, policy: BeamPolicy) -> None:
    is_shared = isinstance(policy, SharedBeam)
    for seed in range(5):
        model = TableTranslator(6, seed)
        options = {"length_penalty": PowerLengthPenalty(1.0), "policy": policy}
        found = run(model, beam_size=width, max_tokens=6, n_best=2, **options)
        for source, targets in zip(SOURCES, found, strict=True):
            expected = slow_beam(model, source, width=width, max_tokens=6, n_best=2, is_shared=is_shared)
            assert [(tuple(one.tokens), one.ended) for one in targets] == [
                (tokens, ended) for tokens, ended, _ in expected
            ]
            assert [one.score for one in targets] == pytest.approx(
                [score for *_, score in expected], abs=1e-5
            )


@pytest.mark.spec(44)
@pytest.mark.spec(119)
def test_scores_equal_forced_scoring_and_do_not_depend_on_the_batch() -> None:
    """A real network in float32: alone, with others in another order, with more padding."""
    model, given = build_pair(SMALL, seed=4, noise=0.9).float(), ragged_pairs([4, 7, 1, 3, 6], [1] * 5)
    with torch.no_grad():
        model.bias[REAL_END] += 9
    symbols = SpecialTokens(START, REAL_END, (PAD, START))
    search = BeamSearch(symbols, beam_size=4, max_tokens=9, n_best=3, length_penalty=PowerLengthPenalty(0.7))
    together = search.run(model, SourceBatch.from_tokens(given.source, given.source_is_token))
    order = [3, 0, 4, 4, 2]
    wider, is_wider = (
        torch.nn.functional.pad(each[order], (0, 3)) for each in (given.source, given.source_is_token)
    )
    again = search.run(model, SourceBatch.from_tokens(wider, is_wider))
    for row, targets in zip(order, again, strict=True):
        assert [one.tokens for one in targets] == [one.tokens for one in together[row]]
        assert [one.score for one in targets] == pytest.approx([one.score for one in together[row]], abs=1e-4)
    lengths = given.source_is_token.sum(dim=1).tolist()
    flat = [(row, one) for row, targets in enumerate(together) for one in targets]
    sources = [given.source[row, : lengths[row]] for row, _ in flat]
    forced = score_targets(
        model, sources, [one.tokens for _, one in flat], symbols, ended=[one.ended for _, one in flat]
    )
    for (_, one), truth in zip(flat, forced, strict=True):
        assert one.log_prob == pytest.approx(truth.log_prob, abs=1e-4)
        assert one.token_log_probs == pytest.approx(truth.token_log_probs, abs=1e-4)
        assert one.score == pytest.approx(truth.log_prob / len(truth.token_log_probs) ** 0.7, abs=1e-4)
    assert {one.ended for _, one in flat} == {True, False}


@pytest.mark.spec(121)
def test_what_was_written_step_by_step_is_likeliest_when_everything_is_computed_anew() -> None:
    """The best of a wide beam over a real network equals the best of all its targets, each scored by one
    whole pass.
    """
    model, given = build_pair(SMALL, seed=8, noise=0.7), ragged_pairs([4, 2], [1, 1])
    allowed = [REAL_END, 5, 6]
    symbols = SpecialTokens(START, REAL_END, tuple(token for token in range(13) if token not in allowed))
    found = BeamSearch(symbols, beam_size=27, max_tokens=3).run(
        model, SourceBatch.from_tokens(given.source, given.source_is_token)
    )
    words = allowed[1:]
    targets = [[], *([a] for a in words), *([a, b] for a in words for b in words)]
    cut = [[a, b, c] for a in words for b in words for c in words]
    for row, length in enumerate([4, 2]):
        source = given.source[row, :length]
        scored = score_targets(model, [source] * 15, targets + cut, symbols, ended=[True] * 7 + [False] * 8)
        best = max(scored, key=lambda one: one.log_prob)
        assert (found[row][0].tokens, found[row][0].ended) == (best.tokens, best.ended)
        assert found[row][0].log_prob == pytest.approx(best.log_prob, abs=1e-9)


def test_coverage_is_what_the_attention_of_a_real_network_left_out() -> None:
    """The score of every answer, from the alignment of one whole pass over it."""
    model, given = build_pair(SMALL, seed=8, noise=0.7), ragged_pairs([5, 3], [1, 1])
    symbols = SpecialTokens(START, REAL_END, (PAD, START))
    search = BeamSearch(
        symbols,
        beam_size=4,
        n_best=4,
        max_tokens=4,
        length_penalty=GNMTLengthPenalty(0.5),
        coverage_penalty=CoveragePenalty(0.3),
    )
    penalties = []
    for row, targets in enumerate(
        search.run(model, SourceBatch.from_tokens(given.source, given.source_is_token))
    ):
        source = given.source[row : row + 1][given.source_is_token[row : row + 1]].unsqueeze(0)
        decoder_state = model.encode(source, torch.ones_like(source, dtype=torch.bool))
        for one in targets:
            inputs = torch.tensor([[START, *one.tokens][: len(one.token_log_probs)]])
            _, _, alignment = model.decode_with_alignment(
                inputs, torch.ones_like(inputs, dtype=torch.bool), decoder_state
            )
            assert alignment is not None
            missed = sum(math.log(min(1.0, looked)) for looked in alignment[0].sum(dim=0).tolist())
            length = len(one.token_log_probs)
            assert one.score == pytest.approx(
                one.log_prob / ((5 + length) / 6) ** 0.5 + 0.3 * missed, abs=1e-6
            )
            penalties.append(missed)
    assert min(penalties) < -0.1


def test_groups_without_a_penalty_find_the_same_and_with_one_they_part() -> None:
    model = TableTranslator(6, seed=3)
    alone = run(model, beam_size=2, n_best=2, max_tokens=5)
    alike = run(model, beam_size=6, n_best=6, max_tokens=5, diversity=Diversity(3, 0.0))
    assert [[one.tokens for one in targets] for targets in alike] == [
        [one.tokens for one in targets] for targets in alone
    ]
    apart = run(model, beam_size=6, n_best=6, max_tokens=5, diversity=Diversity(3, 50.0))
    for targets in apart:
        assert len({tuple(one.tokens[:1]) for one in targets}) >= 3


def test_a_group_pays_for_what_earlier_groups_have_chosen() -> None:
    """Two groups of one: the second takes the likeliest token that is not worth its penalty, at every
    step.
    """
    penalty, model = 0.7, TableTranslator(5, seed=11)
    found = run(
        model,
        [(1, 2)],
        beam_size=2,
        n_best=2,
        max_tokens=4,
        diversity=Diversity(2, penalty),
        constraints=[MinTokens(4, end_id=END)],
    )
    first: Tokens = ()
    second: Tokens = ()
    for _ in range(4):
        chosen = max(range(1, 5), key=lambda token: model.log_prob((1, 2), first, token))
        second = (
            *second,
            max(
                range(1, 5),
                key=lambda token: model.log_prob((1, 2), second, token) - penalty * (token == chosen),
            ),
        )
        first = (*first, chosen)
    assert {tuple(one.tokens) for one in found[0]} == {first, second}
    assert first != second
    for one in found[0]:
        total = sum(
            model.log_prob((1, 2), tuple(one.tokens[:place]), token) for place, token in enumerate(one.tokens)
        )
        assert one.log_prob == one.score == pytest.approx(total, abs=1e-5)


def test_a_finished_sentence_leaves_the_batch() -> None:
    class Ends(TableTranslator):
        """Ends after as many tokens as the source has."""

        def row(self, kind: str, source: Tokens, written: Tokens, size: int) -> Tensor:
            row = super().row(kind, source, written, size)
            row[END] = 30.0 if len(written) >= len(source) else -30.0
            return row

    model = Ends(4)
    run(model, beam_size=2, max_tokens=9)
    assert model.batches == [3, 6, 4, 2]  # of lengths 3, 1 and 2


def test_what_cannot_be_is_refused_by_words() -> None:
    with pytest.raises(UsageError, match=r"^n_best=4: (.|\n)*at most 3(.|\n)*beam_size=4"):
        BeamSearch(SYMBOLS, beam_size=3, n_best=4, max_tokens=5)
    with pytest.raises(UsageError, match=r"^groups=4: a beam of 6(.|\n)*Allowed: 1, 2, 3, 6"):
        BeamSearch(SYMBOLS, beam_size=6, max_tokens=5, diversity=Diversity(4, 1.0))
    with pytest.raises(UsageError, match=r"^min_tokens=6: (.|\n)*at most 5"):
        BeamSearch(SYMBOLS, beam_size=2, max_tokens=5, constraints=[MinTokens(6, end_id=END)])
    with pytest.raises(UsageError, match=r"prefix has 3 tokens.* 2"):
        BeamSearch(SYMBOLS, beam_size=2, max_tokens=2, constraints=[ForcedPrefix([1, 2, 1])])
    with pytest.raises(UsageError, match=r"prefix=7: .* 4 tokens.\n  Allowed: 0 to 3"):
        run(TableTranslator(4), beam_size=2, max_tokens=4, constraints=[ForcedPrefix(per_source={1: [7]})])
    with pytest.raises(UsageError, match=r"^coverage=0\.2: .*attention weights"):
        BeamSearch(SYMBOLS, beam_size=2, max_tokens=5, coverage_penalty=CoveragePenalty(0.2)).run(
            Trap(), SourceBatch.from_tokens(*batch([(1,)]))
        )


def test_no_sources_have_no_targets() -> None:
    empty = SourceBatch.from_tokens(torch.zeros(0, 2, dtype=torch.long), torch.zeros(0, 2, dtype=torch.bool))
    assert BeamSearch(SYMBOLS, beam_size=2, max_tokens=3).run(TableTranslator(4), empty) == []
